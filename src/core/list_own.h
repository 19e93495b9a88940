/* What the files of lists share. */
#ifndef INGOT_CORE_LIST_OWN_H
#define INGOT_CORE_LIST_OWN_H

#include "core/cursor.h"
#include "core/engine.h"
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
    bool best;               /* how well it matches, then the last changed: core/find.h */
};

/* Part of the order: all objects without a value of the sort column, or all with one. On both engines these
 * two are apart, so null never takes part in a comparison and an index answers each. */
struct part {
    bool nulls;
    const struct cursor *after;
};
/* Appends where the part begins, and its order. */
void list_range(const struct order *o, const struct part *p, struct sql *s);
void list_order(const struct order *o, const struct part *p, int64_t limit, struct sql *s);

/* What all parts and the total have in common. */
struct listing {
    const struct kind *kind;
    const struct order *order;
    struct search_words words; /* none: all objects */
    const struct sql *where;
    size_t scope_text, scope_args; /* how much of `where` says which objects the caller may see at all */
    bool count;                    /* the total is asked for, too */
    struct arena *arena;
};

struct page {
    struct object *objects;
    size_t n;
    bool more, unsorted;
    int64_t total;          /* -1: a search with more than SEARCH_SORTED_MAX matches */
    struct db_value *value; /* of the side that is sorted by, of each; null: none */
};

/* The conditions of all objects of the kind that the caller sees, but for the search; the words of
 * a search, k NULL: of all kinds. */
bool list_conditions(struct core *core, const struct caller *c, const struct kind *k,
                     const struct list_query *q, struct arena *a, struct listing *ret, struct sql *out,
                     struct err *err);
bool list_words(const struct kind *k, struct str q, struct arena *a, struct search_words *ret,
                struct err *err);

/* The value by which order.best sorts: search_rank's, then the last changed first. */
struct db_value list_best(int rank, int64_t changed);

/* A page of a search, with its total. unsorted: the page before was. */
bool list_search(struct db_conn *conn, const struct listing *l, const struct cursor *after, bool unsorted,
                 size_t limit, struct page *ret, struct err *err);

#endif
