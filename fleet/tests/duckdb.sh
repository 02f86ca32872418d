#!/bin/sh
# As much of DuckDB's command as `compact.sh` calls, by the Python and the wheels that the tests have.
case $1 in
--version) echo v2.0.1 ;;
*)
    "$PROTOLOG_TEST_PYTHON" "$(dirname "$0")/query.py" "$5" || exit
    if [ -n "${PROTOLOG_TEST_CUT-}" ]; then
        # As if both were killed when a part of the rows was written.
        find ../compact -name 'data_*.parquet' -exec truncate -s 100 {} +
        kill -KILL "$PPID"
    fi
    ;;
esac
