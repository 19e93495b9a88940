/* What the files of lists share. */
#ifndef INGOT_CORE_LIST_OWN_H
#define INGOT_CORE_LIST_OWN_H

#include "core/cursor.h"
#include "core/search.h"
#include "core/side.h"

/* How a list is ordered: by a column, then by id in the same direction. */
struct order {
    struct str text;           /* as asked: "-name" */
    const char *column;        /* NULL: by id alone */
    const struct field *field; /* of the column */
    bool down;
    bool never_null;
    const struct side *side; /* the column is another table's: metric:loss */
};

/* What all parts and the total have in common. */
struct listing {
    const struct kind *kind;
    const struct order *order;
    struct search_words words; /* none: all objects */
    const struct sql *where;
    size_t scope_text, scope_args; /* how much of `where` says which objects the caller may see at all */
    struct arena *arena;
};

struct page {
    struct object *objects;
    size_t n;
    bool more, unsorted;
    int64_t total;          /* -1: a search with more than SEARCH_SORTED_MAX matches */
    struct db_value *value; /* of the side that is sorted by, of each; null: none */
};

/* A page of a search, with its total. unsorted: the page before was. */
bool list_search(struct db_conn *conn, const struct listing *l, const struct cursor *after, bool unsorted,
                 size_t limit, struct page *ret, struct err *err);

#endif
