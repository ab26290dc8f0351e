// The entry point: SQLite calls it when the extension is loaded.
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT1

#include "call.hpp"

extern "C" __attribute__((visibility("default"))) int sqlite3_posy_init(sqlite3* db, char** problem,
                                                                        const sqlite3_api_routines* api) {
    SQLITE_EXTENSION_INIT2(api);
    int code = posy::sqlite::add_functions(db);
    if (code == SQLITE_OK) code = posy::sqlite::add_aggregates(db);
    if (code != SQLITE_OK) *problem = sqlite3_mprintf("posy: %s", sqlite3_errmsg(db));
    return code;
}
