/* The generic verbs over kinds: everything that REST, the CLI and controllers do to objects goes through
 * here, so permissions, isolation, validation, references, revision checks and audit exist once. All calls
 * block (database); engine_change_then only until its write is queued. */
#ifndef INGOT_CORE_ENGINE_H
#define INGOT_CORE_ENGINE_H

#include "base/json.h"
#include "core/caller.h"
#include "core/core.h"

struct list_query {
    int64_t project;   /* SCOPE_PROJECT, and SCOPE_CHILD over all parents */
    int64_t parent;    /* SCOPE_CHILD; 0: over all parents */
    struct str q;      /* words of FIELD_SEARCH fields: core/search_text.h */
    struct str filter; /* language of core/filter.h */
    struct str sort;   /* "name", "-created_at"; STR_NULL: "-id" */
    struct str cursor; /* of a former answer */
    int64_t limit;     /* 1..200; 0: 20 */
    bool mine;
    bool count; /* also the exact total */
};

/* Writes {"items":[...],"next":"...",("total":n)}, with q also "sorted" and "matches". */
bool engine_list(struct core *core, const struct caller *c, const struct kind *k, const struct list_query *q,
                 struct arena *a, struct buf *out, struct err *err);
/* Reads one with the caller's right to it; parent 0: any. ERR_NOT_FOUND also where existence is a secret. */
bool engine_get(struct core *core, const struct caller *c, const struct kind *k, int64_t parent, int64_t id,
                struct arena *a, struct object *ret, struct err *err);
/* Writes the object as JSON. */
bool engine_show(struct core *core, const struct caller *c, const struct object *o, struct arena *a,
                 struct buf *out, struct err *err);
/* For actions: answers with the object, or with that of the id, which the caller may see. */
bool engine_answer(struct op *op, const struct object *o, struct json_out *out, struct err *err);
bool engine_answer_id(struct op *op, const struct kind *k, int64_t id, struct json_out *out, struct err *err);
/* A change of one object: a new one of body, body (a JSON merge patch) into the one of the id, or that one
 * deleted. Unknown fields, wrong types and broken rules of body are errors naming the field. */
struct engine_change {
    enum { ENGINE_CREATE, ENGINE_UPDATE, ENGINE_DELETE } verb;
    const struct kind *kind;
    int64_t parent, id;
    int64_t revision; /* that it must have; 0: any (the platform's own use) */
    yyjson_val *body;
};
/* Makes it without a thread that waits for the disk: then is called once, on a thread of the pool, with the
 * object (as it was, when deleted) or NULL and the error; perhaps before this returns. refs: when a delete is
 * refused because of references, JSON array of {"kind","count","examples":[{"id","name"}]} for the problem.
 * c and a must last until then. */
typedef void (*engine_then_fn)(void *ctx, const struct object *o, struct str refs, const struct err *err);
void engine_change_then(struct core *core, const struct caller *c, const struct engine_change *what,
                        struct arena *a, engine_then_fn then, void *ctx);
/* The same for callers that wait. */
bool engine_create(struct core *core, const struct caller *c, const struct kind *k, int64_t parent,
                   yyjson_val *body, struct arena *a, struct object *ret, struct err *err);
bool engine_update(struct core *core, const struct caller *c, const struct kind *k, int64_t parent,
                   int64_t id, int64_t revision, yyjson_val *patch, struct arena *a, struct object *ret,
                   struct err *err);
bool engine_delete(struct core *core, const struct caller *c, const struct kind *k, int64_t parent,
                   int64_t id, int64_t revision, struct arena *a, struct str *ret_refs, struct err *err);
/* Runs an action. input: body as JSON object or NULL. */
bool engine_action(struct core *core, const struct caller *c, const struct kind *k, const struct action *act,
                   int64_t parent, int64_t id, yyjson_val *input, struct arena *a, struct buf *out,
                   int *ret_status, struct err *err);

/* A write of an action or a controller: fn runs as db_write's does, with an op whose rows (below) are told to
 * listeners and caches after the commit. */
typedef bool (*engine_write_fn)(struct op *op, void *ctx, struct err *err);
bool engine_write(struct core *core, const struct caller *c, struct arena *a, engine_write_fn fn, void *ctx,
                  struct err *err);
/* The same without a thread that waits: then is called once, on a thread of the pool, when the change is
 * durable or was rolled back. c and a must last until then. Not for actions. */
typedef void (*engine_written_fn)(void *ctx, bool ok, const struct err *err);
void engine_write_then(struct core *core, const struct caller *c, struct arena *a, engine_write_fn fn,
                       engine_written_fn then, void *ctx);

/* Inside a write, for hooks: plain insert/update of another kind's row by the platform, audited, no
 * permission asked. */
/* Says that another object of the kind has the value; returns false. */
bool engine_taken(const struct kind *k, const char *field, struct db_value v, struct err *err);
bool engine_insert_row(struct op *op, struct object *o, struct err *err);
bool engine_update_row(struct op *op, struct object *o, struct err *err); /* o was loaded in this write */
bool engine_delete_row(struct op *op, struct object *o, struct err *err);
bool engine_load_row(struct op *op, const struct kind *k, int64_t id, struct object *ret, bool *found,
                     struct err *err);
/* Changes fields with FIELD_STATUS of an object, and nothing else of it: no revision, no updated_at, no
 * audit. Listeners are told "status" after the commit unless all of the fields are internal. An object that
 * is gone by now is no error. */
struct engine_status {
    const char *field;
    struct db_value value;
    bool add; /* value is added to the number that the field holds */
};
static inline struct engine_status status_set(const char *field, struct db_value value)
{
    return (struct engine_status){field, value, false};
}
static inline struct engine_status status_add(const char *field, int64_t n)
{
    return (struct engine_status){field, db_int(n), true};
}
struct engine_statuses {
    const struct engine_status *items;
    size_t n;
};
#define ENGINE_STATUSES(...)                                                                                 \
    (struct engine_statuses)                                                                                 \
    {                                                                                                        \
        (const struct engine_status[]){__VA_ARGS__},                                                         \
            sizeof((const struct engine_status[]){__VA_ARGS__}) / sizeof(struct engine_status)               \
    }
bool engine_set_status(struct op *op, const struct kind *k, int64_t id, struct engine_statuses fields,
                       struct err *err);
/* The same as a write of its own. */
bool engine_write_status(struct core *core, const struct kind *k, int64_t id, struct engine_statuses fields,
                         struct err *err);
struct object engine_object(struct arena *a, const struct kind *k); /* empty, values all null */
/* Adds a line to the audit inside a write. detail: JSON text or STR_NULL. */
bool engine_audit(struct op *op, const char *verb, const char *kind, int64_t id, struct str name,
                  int64_t project, struct str detail, struct err *err);

#endif
