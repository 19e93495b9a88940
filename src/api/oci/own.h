/* What the files of the registry share. */
#ifndef INGOT_API_OCI_OWN_H
#define INGOT_API_OCI_OWN_H

#include "core/account/accounts.h"
#include "core/image/repository.h"
#include "net/http.h"

struct oci_call {
    struct core *core;
    struct request *request;
    struct arena *arena; /* the request's */
    const struct oci_route *route;
    struct str name, last;  /* "<project>/<image>"; what follows "manifests/" and the like */
    struct str body;        /* of manifests */
    struct caller caller;   /* released after run */
    struct str scopes;      /* lines "repository:name:actions" of its token; STR_NULL: not limited */
    int64_t until;          /* the credential is good until then (wall) */
    uint64_t commits;       /* db_commits before anything was read */
    struct db_tables reads; /* from there on, of manifests */
};

struct oci_route {
    const char *method;
    int shape;          /* of the path: oci.c */
    const char *action; /* "pull", "push", "delete"; NULL: none */
    void (*run)(struct oci_call *call);
    bool streams, collects;
};

/* The specification's error document; the code follows from err's code and field. headers may be NULL. */
void oci_problem(struct oci_call *call, const struct err *err, const struct header *headers, size_t n);
void oci_answer(struct oci_call *call, int status, const struct header *headers, size_t n, struct str body);
/* The repository of the call with the right that the route needs. Answers itself when it returns false. */
bool oci_repository(struct oci_call *call, struct repository *ret);
/* The digest that `text` is; answers itself when it is none. */
bool oci_digest(struct oci_call *call, struct str text, struct digest *ret);

/* auth.c. oci_who fills caller, scopes and until; false: err, and a caller without a user. */
bool oci_who(struct oci_call *call, struct err *err);
bool oci_scoped(const struct oci_call *call, struct str name, const char *action);
/* The header that tells a client where to get a token and for what. */
struct header oci_challenge(struct oci_call *call, const char *error);
void oci_run_token(struct oci_call *call);

/* manifests.c */
void oci_run_manifest(struct oci_call *call);
void oci_run_push(struct oci_call *call);
void oci_run_manifest_delete(struct oci_call *call);

/* answers.c: manifests that were asked for a moment ago, answered on the loop thread while nothing was
 * committed since to the tables that they were read from. */
struct oci_kept {
    struct str media_type, digest, body;
    int64_t version;
};
void oci_keep(const struct oci_call *call, const struct oci_kept *answer);
bool oci_give(struct core *core, struct request *r);
/* A manifest: the body is left out for HEAD by the server. */
void oci_answer_manifest(struct request *r, const struct oci_kept *k);

/* blobs.c, uploads.c */
void oci_run_blob(struct oci_call *call);
void oci_run_blob_delete(struct oci_call *call);
void oci_run_upload_begin(struct oci_call *call);
void oci_run_upload_get(struct oci_call *call);
void oci_run_upload_patch(struct oci_call *call);
void oci_run_upload_put(struct oci_call *call);
void oci_run_upload_delete(struct oci_call *call);

/* lists.c */
void oci_run_base(struct oci_call *call);
void oci_run_tags(struct oci_call *call);
void oci_run_referrers(struct oci_call *call);
void oci_run_catalog(struct oci_call *call);

#endif
