#!/bin/sh
# Writes one day of one program of an archive to another archive, in a few large files with the machines in order:
#
#   compact.sh ARCHIVE TO DATE PROGRAM
#
# DATE and PROGRAM are written as in the names of directories. TO has the messages of the day whole or not at all, at any instant;
# their losses and spans come just before them. A run that was killed leaves nothing else that queries see, and the next one begins
# anew. Exit code 0: TO has all that ARCHIVE has of the day, which may be removed there. 3: ARCHIVE has more by now, of a machine that
# was late. `.sha256` in TO has the checksums of its files, for `protologtool export check`. It needs `duckdb`, `flock` and `sha256sum`.
set -eu
# Logs are for their user alone.
umask 077
unset CDPATH

# Prints an error and what to do, and ends with an exit code.
fail() {
    echo "error: $2" >&2
    echo "help: $3" >&2
    exit "$1"
}

if [ $# -ne 4 ]; then
    echo "usage: compact.sh ARCHIVE TO DATE PROGRAM" >&2
    exit 2
fi
here=$(cd -- "$(dirname -- "$0")" && pwd)
[ -d "$1/exports" ] || fail 2 "\`$1\` is no archive" "give a directory that \`protologtool export parquet\` has written"
archive=$(cd -- "$1" && pwd)
case $3 in
[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] | __HIVE_DEFAULT_PARTITION__) ;;
*) fail 2 "\`$3\` is no date" "give it as in \`2026-11-28\`" ;;
esac
place=date=$3/program=$4
case $4 in
'' | */* | *\'* | *'
'*) fail 2 "\`$place\` is no directory of an archive" "give the date and the program as the directories have them" ;;
esac
duckdb=${DUCKDB:-duckdb}
command -v "$duckdb" >/dev/null || fail 2 "\`$duckdb\` is not there" "install DuckDB's command, or name it by \`DUCKDB=/path/to/duckdb\`"

mkdir -p -- "$2"
to=$(cd -- "$2" && pwd)
case $to/ in
"$archive"/*) fail 2 "\`$to\` is in \`$archive\`, where the views would have messages twice" "name a directory beside it" ;;
esac
# Where others may write, a link could lead elsewhere what is replaced here.
if [ -L "$2" ] || [ "$(find "$to" -maxdepth 1 \( ! -user "$(id -u)" -o -type l -o -type d -perm /022 \) | wc -l)" -ne 0 ]; then
    fail 2 "\`$to\` is a link, or others may write there" "name a directory that is yours alone, in no link"
fi
[ ! -L "$archive/exports/archive.lock" ] || fail 2 "\`$archive/exports/archive.lock\` is a link" "remove it"
# No engine looks there for tables.
work=$to/.compact
record=$to/.compacted/$place

# One job at a time, and no export meanwhile: it is the lock that exports take.
exec 8>>"$to/.lock" 9>>"$archive/exports/archive.lock"
flock 8
flock 9
# Of a run that was killed, perhaps when the day was in its place already.
rm -rf "$work"

# The files that an archive has of the day. One with other rows has another name, so a day that was removed and exported again is the same.
cd -- "$archive"
found() {
    for table in losses messages spans; do
        [ ! -e "$table/$place" ] || find "$table/$place" -type f ! -name none.parquet -printf '%p %s\n'
    done | sort
}
files=$(found)
if [ -e "$record" ] && { [ -e "$to/messages/$place" ] || ! grep -q ^messages/ "$record"; }; then
    more=$(printf '%s\n' "$files" | sort - "$record" "$record" | uniq -u | head -n 1)
    [ -z "$more" ] && exit 0
    fail 3 "\`$to\` has that day without \`$archive/${more%% *}\`, which came later" \
        "keep it where it is, or compact it into another directory, before you remove the day"
fi
[ -n "$files" ] || fail 2 "\`$archive/messages/$place\` is not there" "name a date and a program that were exported"
for intent in exports/*.intent; do
    [ ! -e "$intent" ] || fail 1 "an export into \`$archive\` was interrupted, and may have left messages twice" \
        "export a trace into it, which removes what is left"
done
link=$(find losses messages spans templates -type l | head -n 1)
[ -z "$link" ] || fail 2 "\`$archive/$link\` is a link, which no export makes" "remove it"
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# A file that has its place and no content yet is what a machine that goes down leaves.
flush() {
    find "$1" -type f -exec sync {} +
}

# Puts a file in its place, unless it is there.
add() {
    if [ ! -e "$to/$1" ]; then
        mkdir -p "$to/$(dirname "$1")"
        cp "$1" "$work/file"
        flush "$work/file"
        mv "$work/file" "$to/$1"
    fi
}

# The names of directories have escapes, and one for what has none.
value() {
    case $1 in
    __HIVE_DEFAULT_PARTITION__) echo "null" ;;
    *) echo "url_decode('$1')" ;;
    esac
}

if printf '%s\n' "$files" | grep -q ^messages/; then
    case $("$duckdb" --version) in
    # It can't do both, and writes one file.
    v1.*) size= ;;
    *) size=", file_size_bytes '512MB'" ;;
    esac
    quoted=$(printf %s "$work" | sed "s/'/''/g")
    "$duckdb" -bail -init "$here/protolog.sql" -c "
        set temp_directory = '$quoted/tmp';
        copy (
            select * exclude (date, program, build), date, program, build from protolog_files('messages')
            where date is not distinct from ($(value "$3"))::date and program is not distinct from $(value "$4")
            order by host, id, time
        ) to '$quoted/messages' (format parquet, compression zstd, partition_by (date, program, build)$size)" >"$work/said"
    # DuckDB has escapes of its own.
    set -- "$work"/messages/date=*/program=*
    { [ $# -eq 1 ] && [ -d "$1" ]; } || fail 1 "DuckDB has found no messages of \`$place\`" "try \`protologtool export check\` on \`$archive\`"
    written=$1
    flush "$written"
fi

# What messages refer to comes before them.
{
    for table in messages losses spans templates; do
        find "$table" -name none.parquet -type f
    done
    find templates -path "templates/${place#*/}/*" -name '*.parquet' -type f
} | grep -E '^(losses|messages|spans|templates)/' | grep -v '/\.\./' >"$work/files"
while read -r file; do
    add "$file"
done <"$work/files"
day=${place%%/*}
for table in losses spans; do
    # Of a run that was killed here.
    rm -rf "${to:?}/$table/$place"
    if [ -e "$table/$place" ]; then
        mkdir -p "$work/$table" "$to/$table/$day"
        cp -r "$table/$place" "$work/$table/$day"
        flush "$work/$table/$day"
        mv -T "$work/$table/$day" "$to/$table/$place"
    fi
done
# Under the names that they get, and have.
mkdir -p "$work/day/messages/$day" "$to/.sha256/$day" "${record%/*}" "$to/messages/$day"
[ -z "${written:-}" ] || mv -T "$written" "$work/day/messages/$place"
for path in "$work/day/messages" "$to/losses" "$to/spans"; do
    [ ! -e "$path/$place" ] || (cd "$path/.." && find "${path##*/}/$place" -type f -exec sha256sum {} +)
done >"$work/sums"
printf '%s\n' "$files" >"$work/record"
flush "$work/sums"
flush "$work/record"
mv -T "$work/sums" "$to/.sha256/$place"
mv -T "$work/record" "$record"
if [ -n "${written:-}" ]; then
    mv -T "$work/day/messages/$place" "$to/messages/$place"
fi
