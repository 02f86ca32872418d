#!/bin/sh
# Writes one day of one program of an archive to another archive, in a few large files with the machines in order:
#
#   compact.sh ARCHIVE TO DATE PROGRAM
#
# TO has the day whole or not at all, at any instant; a run that was killed leaves nothing that queries see, and the next one begins
# anew. If the day is there, nothing is done: run this when the machines have exported all of it. It needs `duckdb`, and `flock`.
set -eu

if [ $# -ne 4 ]; then
    echo "usage: compact.sh ARCHIVE TO DATE PROGRAM" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
archive=$(cd "$1" && pwd)
mkdir -p "$2"
to=$(cd "$2" && pwd)
place=date=$3/program=$4
case $place in
*\'*)
    echo "error: \`$place\` is no directory of an archive" >&2
    echo "help: give the date and the program as the directories have them" >&2
    exit 2
    ;;
esac
# No engine looks there for tables.
work=$to/.compact

# One job at a time, and no export meanwhile: it is the lock that exports take.
exec 8>>"$to/.lock" 9>>"$archive/exports/archive.lock"
flock 8
flock 9

if [ -e "$to/messages/$place" ]; then
    exit 0
fi
if [ ! -e "$archive/messages/$place" ]; then
    echo "error: \`$archive/messages/$place\` is not there" >&2
    echo "help: name a date and a program that were exported" >&2
    exit 2
fi
for intent in "$archive"/exports/*.intent; do
    if [ -e "$intent" ]; then
        echo "error: an export into \`$archive\` was interrupted, and may have left messages twice" >&2
        echo "help: export a trace into it, which removes what is left" >&2
        exit 1
    fi
done
rm -rf "$work"
mkdir -p "$work"

# A file that has its place and no content yet is what a machine that goes down leaves.
flush() {
    find "$1" -type f -exec sync {} +
}

# Puts a file in its place, unless it is there.
add() {
    if [ ! -e "$to/$1" ]; then
        mkdir -p "$to/$(dirname "$1")"
        cp "$archive/$1" "$work/file"
        flush "$work/file"
        mv "$work/file" "$to/$1"
    fi
}

duckdb=${DUCKDB:-duckdb}
case $("$duckdb" --version) in
# It can't do both, and writes one file.
v1.*) size= ;;
*) size=", file_size_bytes '512MB'" ;;
esac
quoted=$(printf %s "$work" | sed "s/'/''/g")
cd "$archive"
"$duckdb" -bail -init "$here/protolog.sql" -c "
    set temp_directory = '$quoted/tmp';
    copy (
        select * exclude (date, program, build), date, program, build from protolog_files('messages')
        where date = '$3' and program = '$4'
        order by host, id, time
    ) to '$quoted/messages' (format parquet, compression zstd, partition_by (date, program, build)$size)" >"$work/said"

# What messages refer to comes before them.
for table in messages losses spans templates; do
    find "$table" -name none.parquet
done >"$work/files"
find templates -path "templates/program=$4/*" -name '*.parquet' >>"$work/files"
while read -r file; do
    add "$file"
done <"$work/files"
for table in losses spans; do
    # Of a run that was killed here.
    rm -rf "${to:?}/$table/$place"
    if [ -e "$table/$place" ]; then
        mkdir -p "$work/$table" "$to/$table/date=$3"
        cp -r "$table/$place" "$work/$table/$3"
        flush "$work/$table/$3"
        mv -T "$work/$table/$3" "$to/$table/$place"
    fi
done
flush "$work/messages"
mkdir -p "$to/messages/date=$3"
mv -T "$work/messages/$place" "$to/messages/$place"
rm -rf "$work"
