/* Paths that are no kind's: a table row each. The router matches the request, finds the caller, checks
 * origin and permission, reads the body, and calls run on a pool thread. */
#ifndef INGOT_API_ROUTE_H
#define INGOT_API_ROUTE_H

#include "base/json.h"
#include "core/caller.h"
#include "core/core.h"
#include "net/http.h"

#define API_PARAMS 4

struct api_call {
    struct core *core;
    struct request *request;
    struct arena *arena;           /* the request's */
    struct caller caller;          /* user 0: not signed in; released by the router after run */
    struct str params[API_PARAMS]; /* the {...} segments of the pattern, decoded */
    struct str body;               /* as sent, STR_NULL when there is none */
    uint64_t commits;              /* db_commits before anything was read */
    struct db_tables reads;        /* what a verb of a kind read since */
    yyjson_val *json;              /* the body parsed when it is application/json; NULL when there is none */
};

struct route {
    const char *method;     /* NULL ends a table */
    const char *pattern;    /* "/api/v1/sign-in/{provider}/callback" */
    const char *permission; /* NULL: any signed-in user; "public": any client; else asked platform-wide */
    void (*run)(struct api_call *call); /* answers, now or later */
    bool streams;                       /* run takes the body itself, with api/pump.h */
    /* For the OpenAPI document (query: for the check as well); all optional. */
    const char *summary; /* a sentence */
    const char *query;   /* parameters as struct route_word, parted by spaces; others are refused */
    const char *headers; /* likewise: headers that the request carries */
    const char *input;   /* JSON Schema of the body, as JSON text */
    int64_t body_max;    /* bytes of a JSON body; 0: API_BODY_MAX */
    const char *takes;   /* media type of a body that is no JSON */
    const char *answer;  /* JSON Schema of the answer; NULL: nothing (204) */
    const char *type;    /* media type of the answer; NULL: application/json */
    bool parts;          /* api/range.h gives the answer: also 206 and 304 */
    bool tagged;         /* the answer has an ETag: also 304 */
    const char *gives;   /* names of the answer's headers, parted by spaces */
    int status;          /* of success when it is not 200 (or 204 without an answer) */
};

/* "name", "name:int", "name:id" or "name:bool", with "!" at the end when it is required. "*" stands for any
 * others. */
struct route_word {
    struct str name, type; /* type empty: text */
    bool required;
};
/* The next word of *rest, which it shortens; false at the end. */
bool route_next(struct str *rest, struct route_word *ret);

/* For .answer: a schema of the document, a kind's or one of api/describe/answer_schema.h. */
#define ROUTE_ANSWER(schema) "{\"$ref\":\"#/components/schemas/" schema "\"}"
#define ROUTE_BINARY         "{\"type\":\"string\",\"format\":\"binary\"}"

/* Answers with JSON; headers may be NULL. 204 ignores the body. */
void api_answer(struct api_call *call, int status, const struct header *headers, size_t n, struct str body);
/* Answers with the problem document of err; headers as above (Retry-After). ERR_FORBIDDEN: a permission's
 * name in err->field is told as `permission`. */
void api_problem(struct api_call *call, const struct err *err, const struct header *headers, size_t n);
/* A number of the query; out of its limits is an error that names it. */
bool api_number(struct api_call *call, const char *name, int64_t low, int64_t high, int64_t fallback,
                int64_t *ret, struct err *err);

#endif
