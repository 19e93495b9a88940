/* From a request's path to what answers it: a row of a route table, or a verb of a kind. */
#ifndef INGOT_API_ROUTER_H
#define INGOT_API_ROUTER_H

#include "api/route.h"
#include "core/kind.h"

#define ROUTER_SEGMENTS 12

/* The path of a kind's object(s), after /api/v1. */
struct target {
    const struct kind *kind;
    const struct action *action; /* or NULL */
    int64_t parent, id;          /* 0: none */
    int64_t grandparent;         /* the parent's own parent in the path; 0: none */
    bool across;                 /* a child's kind at kind_collection: of all parents, only to be read */
};

struct match {
    const struct route *route; /* or: */
    struct target target;      /* kind NULL: neither */
    struct str params[API_PARAMS];
};

/* Route tables that are tried before the kinds. */
extern const struct route *const router_tables[];
extern const size_t router_table_count;

/* ERR_MALFORMED for paths that cannot be decoded, ERR_NOT_FOUND, or ERR_METHOD with *ret_allow the value of
 * Allow. */
bool router_match(struct arena *a, struct str method, struct str path, struct match *ret,
                  const char **ret_allow, struct err *err);

#endif
