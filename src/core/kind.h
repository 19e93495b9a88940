/* A kind is one noun of the platform, declared once as a table. Validation, SQL (its table is derived from
 * it), REST, OpenAPI, the CLI, audit and the generic web pages are all driven by this declaration; a new noun
 * is one file src/core/<group>/kind_<name>.c with a `const struct kind kind_<name>` and a line in
 * core/kinds.c.
 *
 * Columns that every kind has and must not declare: id, revision, created_at, updated_at, created_by; project
 * (scope PROJECT and its children), <parent> (scope CHILD, e.g. "dataset"). */
#ifndef INGOT_CORE_KIND_H
#define INGOT_CORE_KIND_H

#include "base/arena.h"
#include "base/err.h"
#include "db/db.h"

struct core;   /* the running platform: core/core.h */
struct caller; /* core/caller.h */
struct kind;
struct json_out;
struct kind_side; /* core/side.h */

/* A text for people in both languages. */
struct words {
    const char *en, *zh;
};

enum field_type {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_REAL,
    FIELD_BOOL,
    FIELD_TIME,   /* RFC 3339 outside, microseconds inside */
    FIELD_CHOICE, /* one of choices, stored as text */
    FIELD_REF,    /* id of an object of kind `ref`; outside {"id":7,"name":"x"}, accepts 7 or {"id":7} */
    FIELD_REFS,  /* ids of objects of kind `ref`, none twice, stored as JSON; outside a list of what FIELD_REF
                    is;  min and max limit the count */
    FIELD_TEXTS, /* list of texts, stored as JSON; min and max limit the count, item_max each */
    FIELD_JSON,  /* any JSON, checked by `check`, stored as text; max limits its bytes */
};

enum field_flags {
    FIELD_REQUIRED = 1 << 0, /* at create; may not be made empty later */
    FIELD_CREATE = 1 << 1,   /* the client may give it at create */
    FIELD_UPDATE = 1 << 2,   /* the client may change it later */
    FIELD_SEARCH = 1 << 3,   /* texts: q= finds words and parts of words in it (core/search.h) */
    FIELD_SORT = 1 << 4,     /* sort= may name it (indexed with id) */
    FIELD_FILTER = 1 << 5,   /* filter= may name it */
    FIELD_UNIQUE = 1 << 6,   /* within the kind and its project or parent */
    FIELD_SECRET = 1 << 7,   /* given by clients, never shown, audited as "***" */
    FIELD_LIST = 1 << 8,     /* a column of the web's list */
    FIELD_VIRTUAL = 1 << 9,  /* no column: `show` of the kind writes it, or a hook reads it */
    FIELD_LONG = 1 << 10,    /* several lines: the form uses a text area */
    /* The platform's own, and no change of the object: engine_set_status writes it without a new revision,
     * another updated_at or a line of audit, so that no user's edit becomes stale. */
    FIELD_STATUS = 1 << 11,
    FIELD_INTERNAL = 1 << 12, /* the platform's own, stored only: never shown, described or audited */
    FIELD_ADVANCED = 1 << 13, /* few need it: forms fold it away */
};
/* What most fields are. */
#define FIELD_EDIT (FIELD_CREATE | FIELD_UPDATE)

/* The parts of a form, in their order. */
enum field_section { SECTION_WHAT, SECTION_WHO, SECTION_WHERE, SECTION_HOW, SECTION_LIMITS };

struct choice {
    const char *value;
    struct words title;
};

struct field {
    const char *name;
    enum field_type type;
    unsigned flags;
    int64_t min, max; /* TEXT: characters; INT/REAL: value; TEXTS, REFS: count; JSON: bytes. max 0: the type's
                         default */
    int64_t item_max; /* TEXTS */
    const char
        *rule; /* TEXT: name of a rule in core/rule.h: "name", "email", "image-name", "color", "key", ... */
    const struct choice *choices; /* CHOICE: ended by value NULL */
    const char *ref;      /* REF, REFS: the kind's name; a referenced object must be visible to the caller */
    const char *fallback; /* the value when absent at create, as JSON text; NULL: null */
    const char *unit;     /* "bytes", "cores", "hours" ... for display */
    const char *const *spelled; /* JSON object: pairs of names of a member, as it is stored and as it is shown
                                   (core/spelled.h); ended by NULL */
    const char *schema;         /* JSON: JSON Schema of the value, for the OpenAPI document; NULL: anything */
    const struct field *members; /* JSON object: all that it may have, each checked, described and asked for
                                    in forms as a field; ended by name NULL; instead of schema */
    enum field_section section;  /* where a form has it */
    const char *mount; /* REF, REFS: the path in a container where it is found; NAME stands for its name */
    struct words title, help;
    /* Further rule; v is the parsed JSON (TEXTS, JSON) or NULL, value the stored form. */
    bool (*check)(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);
};

/* One object in memory: the stored values in the order of kind->fields (virtual ones are DB_NULL). */
struct object {
    const struct kind *kind;
    int64_t id, revision, project, parent, created_by, created_at, updated_at;
    struct db_value *values;
};
/* By name; the program ends when the kind has no such field. */
struct db_value *object_value(const struct object *o, const char *field);
int64_t object_int(const struct object *o, const char *field); /* 0 when null */
struct str object_text(const struct object *o, const char *field);
/* REFS: the ids, in the arena; *ret_n of them. */
int64_t *object_refs(struct arena *a, const struct object *o, const char *field, size_t *ret_n);

/* What hooks and actions get. conn is set inside a write (all hooks but show); it is NULL in actions, which
 * run on a pool thread and do their own engine_write: the first one with op->caller has the action's line of
 * the audit in it. */
struct op {
    struct core *core;
    const struct caller *caller;
    struct db_conn *conn;
    struct arena *arena;
    const struct kind *kind;
    struct pending *pending; /* the engine's own: what to tell others after the commit; NULL outside */
};

struct action {
    const char *name;       /* POST /api/v1/<plural>/{id}/<name>, or .../<plural>/<name> when on_kind */
    const char *permission; /* full name, e.g. "job.stop" */
    bool on_kind;           /* SCOPE_PROJECT: its field `project` says where, and where it is asked for */
    bool read_only;         /* GET instead of POST, not audited */
    bool for_readers; /* of POST with "<kind>.read": also for those who read another project's public one;
                         what it takes beyond that is asked for by run */
    bool unaudited;   /* not audited either: what people do all day, and the kind keeps itself */
    const struct field
        *fields;        /* of the request's body (or query when read_only); ended by name NULL; may be NULL */
    const char *answer; /* OpenAPI: name of the schema of the answer, or NULL: the object itself */
    int status; /* of success when it is not 200: 201 made, 202 begun (a task), 204 without an answer */
    struct words title; /* of the button */
    bool danger;        /* the web asks before */
    /* input has the fields' values in their order. Writes the answer's JSON value to out, unless .status is
     * 204. *status is the table's; what would be begun but is there already sets 200. */
    bool (*run)(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                int *status, struct err *err);
};

/* A permission that no verb or action of the kind asks for, but a route does. */
struct kind_permission {
    const char *name; /* in full, "service.invoke" */
    struct words title;
};

enum kind_scope {
    SCOPE_PLATFORM, /* /api/v1/users */
    SCOPE_PROJECT,  /* /api/v1/datasets?project=1; `project` is a field at create */
    SCOPE_CHILD,    /* /api/v1/datasets/7/versions; project is the parent's. Those of all parents in a
                       project are listed at /api/v1/dataset-versions?project=1 (kind_collection) */
    SCOPE_OWN,      /* platform-wide, but each user sees only their own (tokens, sessions) */
};

enum kind_verbs {
    VERB_LIST = 1 << 0,
    VERB_READ = 1 << 1,
    VERB_CREATE = 1 << 2,
    VERB_UPDATE = 1 << 3,
    VERB_DELETE = 1 << 4,
    VERB_ALL = 31,
};

struct kind {
    const char *name;   /* "label_set" */
    const char *plural; /* of the path: "label-sets" */
    const char *table;  /* SQL table, "label_sets" */
    struct words title, titles, help;
    const char *menu; /* group of the web's menu: "data", "build", "models", "serve", "admin", or NULL: no
                         page of its own */
    enum kind_scope scope;
    const char *parent; /* SCOPE_CHILD: kind's name */
    unsigned verbs;
    /* Permissions are "<name>.read", ".create", ".update", ".delete", or another kind's when set: */
    const char *permission_as;
    const struct field *fields;   /* ended by name NULL; the first is the one shown as the object's name */
    const struct action *actions; /* ended by name NULL; may be NULL */
    const struct kind_permission *permissions; /* further ones; ended by name NULL; may be NULL */
    /* delete_own: "<name>.delete" is for what one made oneself; what others made needs "<name>.delete_any".
     */
#define KIND_DELETE_ANY "delete_any"
    bool delete_own;
    /* public_too: objects with the boolean field `public` set are readable by every project. */
    bool public_too;
    /* Values by name in tables of their own that lists sort and filter by; ended by prefix NULL; may be NULL.
     */
    const struct kind_side *sides;
    bool audit_reads_only; /* rows are never changed by clients */

    /* Before the write, on the calling pool thread, values already checked: slow work on them (hashing a
     * password). old is NULL at create. Besides the given values only internal fields may be changed here.
     * Optional. */
    bool (*prepare)(struct op *op, const struct object *old, struct object *new_, struct err *err);

    /* Hooks, all optional, inside the write's transaction. */
    bool (*before_create)(struct op *op, struct object *o, struct err *err);
    bool (*after_create)(struct op *op, struct object *o, struct err *err);
    bool (*before_update)(struct op *op, const struct object *old, struct object *new_, struct err *err);
    bool (*after_update)(struct op *op, const struct object *old, struct object *new_, struct err *err);
    bool (*before_delete)(struct op *op, struct object *o, struct err *err); /* refuse with ERR_CONFLICT */
    bool (*after_delete)(struct op *op, struct object *o, struct err *err);
    /* Writes the virtual fields (keys and values) of an object being shown; called once per object, outside
     * writes. */
    bool (*show)(struct op *op, const struct object *o, struct json_out *out, struct err *err);
    /* Whether a caller without the right to read may read this one after all; optional. */
    bool (*reads_too)(struct core *core, const struct caller *c, struct db_conn *conn, const struct object *o,
                      struct arena *a);
    /* Extra SQL condition for lists (scope OWN and special visibility), with one value; NULL: none. */
    const char *(*visible)(struct op *op, struct db_value *arg);
    /* SQL condition for lists whose filter does not name the field `listed_by`: what few people look for. */
    const char *(*listed)(struct arena *a);
    const char *listed_by;
    /* Runs after the commit, in the calling pool thread: wake controllers, drop caches. Not for changes of
     * status, which controllers make themselves. */
    void (*changed)(struct core *core, const struct object *o, const char *verb);
    /* More SQL (indexes, side tables), run once when the table is made; a script as in db.h. */
    const char *extra_sql;
};

/* The registry: one visible array in core/kinds.c. */
extern const struct kind *const kinds[];
extern const size_t kind_count;
const struct kind *kind_by_name(struct str name);
const struct kind *kind_by_plural(struct str plural, const struct kind *parent);
size_t kind_field_count(const struct kind *k);
const struct field *kind_field(const struct kind *k, struct str name, size_t *ret_index);

#endif
