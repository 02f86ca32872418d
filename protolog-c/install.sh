#!/bin/sh
# Builds the library for C and C++, and installs it: sh protolog-c/install.sh [PREFIX]
#
# Below PREFIX (/usr/local by default) come lib/libprotolog.so and .a, include/protolog.h, and what
# pkg-config and CMake read. DESTDIR stands before it, as packages want; LIBDIR names another folder
# than lib, such as lib/x86_64-linux-gnu. With PROTOLOG_LIBRARIES, a folder with both libraries,
# nothing is built.
set -eu
cd "$(dirname "$0")"
prefix=${1:-/usr/local}
case $prefix in /*) ;; *) echo "protolog-c: \`$prefix\` is no absolute path
help: write the whole path" >&2; exit 2 ;; esac
libdir=${LIBDIR:-lib}
to=${DESTDIR:-}$prefix
from=${PROTOLOG_LIBRARIES:-}
if [ -z "$from" ]; then
    cargo build --release --locked --package protolog-c
    from=$(cargo metadata --format-version 1 --no-deps --locked |
        sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release
fi
version=$(sed -n 's/^version = "\(.*\)"/\1/p' ../Cargo.toml | head -n 1)
install -d "$to/include/protolog" "$to/$libdir/pkgconfig" "$to/$libdir/cmake/protolog"
install -m 644 include/protolog.h "$to/include"
install -m 644 include/protolog/lists.h "$to/include/protolog"
install -m 755 "$from/libprotolog.so" "$to/$libdir/libprotolog.so.$version"
ln -sf "libprotolog.so.$version" "$to/$libdir/libprotolog.so.0"
ln -sf libprotolog.so.0 "$to/$libdir/libprotolog.so"
install -m 644 "$from/libprotolog.a" "$to/$libdir"
fill() {
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@VERSION@|$version|g" "$1" >"$2"
}
fill install/protolog.pc.in "$to/$libdir/pkgconfig/protolog.pc"
for file in protolog-config protolog-config-version; do
    fill "install/$file.cmake.in" "$to/$libdir/cmake/protolog/$file.cmake"
done
