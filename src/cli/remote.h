/* Requests to the server named by the configuration. */
#ifndef INGOT_CLI_REMOTE_H
#define INGOT_CLI_REMOTE_H

#include "cli/cli.h"
#include "net/client.h"

struct remote_call {
    const char *method;
    const char *path;   /* below /api/v1, with the query: "/users?limit=1" */
    struct str body;    /* JSON; STR_NULL: none */
    int64_t if_match;   /* 0: none */
    const char *cookie; /* "name=value", sent with the Origin it needs, instead of the token; NULL: none */
    int *ret_status;    /* of remote_json's answer; may be NULL */
};

/* The parsed answer in *ret (NULL for an empty one). A refusal becomes the err of its problem document, which
 * stays in cli->problem. */
bool remote_json(struct cli *cli, const struct remote_call *call, yyjson_val **ret, struct err *err);
/* The same with the whole answer. */
bool remote_do(struct cli *cli, const struct remote_call *call, struct client_answer *ret, struct err *err);
/* Fills what all requests share (address, token, certificate); for calls that stream. headers has room for 4.
 */
bool remote_prepare(struct cli *cli, const char *method, const char *path, struct client_request *q,
                    struct client_header headers[4], struct err *err);
/* The err of an answer of 400 and above. */
bool remote_refused(struct cli *cli, int status, struct str body, struct err *err);

#endif
