#!/usr/bin/env bash
# 2,000 transactions of sqlite3, the same with a write-ahead log, two writers at once; integrity_check before and after a remount.
# SQLITE_TRANSACTIONS gives another number; the write-ahead log has a quarter of it.
# mount: COMPARE=1 SECONDS=300
. "$(dirname "$0")/support/lib.sh"
declare -A counts=([delete]=${SQLITE_TRANSACTIONS:-2000} [wal]=$((${SQLITE_TRANSACTIONS:-2000} / 4 / 10 * 10)))

# transactions FIRST LAST: inserts, updates and deletes, with a row large enough for overflow pages now and then.
transactions() {
    local i
    printf '.bail on\n.timeout 60000\nPRAGMA synchronous = FULL;\n'
    for ((i = $1; i <= $2; i++)); do
        printf "BEGIN IMMEDIATE; INSERT INTO t VALUES (%d, printf('%%.*c', %d, 'x'));" "$i" "$((i % 97 ? i % 300 : 20000))"
        printf ' UPDATE s SET total = total + %d, steps = steps + 1; ' "$i"
        ((i % 10)) || printf 'DELETE FROM t WHERE id = %d; ' "$((i - 5))"
        printf 'COMMIT;\n'
    done
}

for mode in delete wal; do
    db=$M/$mode.db count=${counts[$mode]}
    sqlite3 "$db" "PRAGMA journal_mode = $mode; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX i ON t (v);
        CREATE TABLE s (total INTEGER, steps INTEGER); INSERT INTO s VALUES (0, 0);" >/dev/null
    transactions 1 "$count" | sqlite3 "$db"
    # Two more writers at once, each in a process of its own: locks, and with a log also shared memory.
    writers=()
    for part in 1 2; do
        transactions $((count + part * 1000 - 999)) $((count + part * 1000 - 900)) |
            sqlite3 "$db" &
        writers+=($!)
    done
    for writer in "${writers[@]}"; do wait "$writer" || fail "a writer of two failed ($mode)"; done
done

ids() { seq 1 "$1"; seq $(($1 + 1)) $(($1 + 100)); seq $(($1 + 1001)) $(($1 + 1100)); }
check() {
    local mode count total rows
    for mode in delete wal; do
        count=${counts[$mode]}
        total=$(ids "$count" | awk '{ s += $1 } END { print s }')
        rows=$(ids "$count" | awk '{ n++ } $1 % 10 == 0 { n-- } END { print n }')
        equal "$(sqlite3 "$M/$mode.db" 'PRAGMA integrity_check')" ok "integrity_check $1 ($mode)"
        equal "$(sqlite3 "$M/$mode.db" 'SELECT total, steps FROM s')" "$total|$((count + 200))" "sums $1 ($mode)"
        equal "$(sqlite3 "$M/$mode.db" 'SELECT count(*) FROM t')" "$rows" "rows $1 ($mode)"
    done
}
check "after the transactions"
[[ ! -e $M/delete.db-journal ]] || fail "a journal is left"
remount
check "after a remount"
sqlite3 "$M/delete.db" 'VACUUM'
sqlite3 "$M/wal.db" 'PRAGMA wal_checkpoint(TRUNCATE); VACUUM' >/dev/null
check "after VACUUM"
[[ $(sqlite3 "$M/delete.db" .dump | sha256sum) == $(sqlite3 "$(cp "$M/delete.db" "$W/copy.db" && echo "$W/copy.db")" .dump | sha256sum) ]] ||
    fail "a copy outside differs"
