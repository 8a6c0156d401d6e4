// SQLite, and what of it Swift cannot import: the layout of a VFS's file, variadic functions, and the destructor SQLITE_TRANSIENT.
#ifndef SECUREFS_CSQLITE_SHIM_H
#define SECUREFS_CSQLITE_SHIM_H
#include <sqlite3.h>

/// A file of our VFS: what SQLite knows of it, then a retained object of ours.
typedef struct CSQLite_file {
    sqlite3_file base;
    void *object;
} CSQLite_file;

static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int CSQLite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0) : sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// sqlite3_db_config with an on/off option; it is variadic in C.
static inline int CSQLite_configure(sqlite3 *database, int option, int on) { return sqlite3_db_config(database, option, on, (int *)0); }
#endif
