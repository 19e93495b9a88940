/* Resumable uploads (the storage side of tus 1.0): bytes are appended to <data>/uploads/<id> and survive a
 * crash up to the last acknowledged one; a finished upload becomes a blob. */
#ifndef INGOT_STORE_UPLOAD_H
#define INGOT_STORE_UPLOAD_H

#include "store/store.h"

#define UPLOAD_ID_MAX 33

struct upload {
    char id[UPLOAD_ID_MAX]; /* random: knowing it is not enough, the user must match */
    int64_t user, project, length, offset, expires_at;
    struct str metadata; /* as the client sent it */
    bool finished;
    struct digest blob; /* when finished */
};

/* room: bytes that are reserved for it within the project's limit until it is taken (upload_take) or removed,
 * or an hour after its last byte; ERR_QUOTA when they are not there. 0: none, where the length is only a
 * limit. */
bool upload_create(struct store *s, int64_t user, int64_t project, int64_t length, int64_t room,
                   struct str metadata, struct arena *a, struct upload *ret, struct err *err);
/* ERR_NOT_FOUND for an unknown id, another user's or an expired one. offset is what is durable. */
bool upload_get(struct store *s, struct str id, int64_t user, struct arena *a, struct upload *ret,
                struct err *err);

/* A finished upload to that project, for the caller that makes something of it: its room is no longer
 * reserved, as that counts itself. ERR_CONFLICT, with the field, when it is not finished or of another
 * project. */
bool upload_take(struct store *s, struct str id, int64_t user, int64_t project, const char *field,
                 struct arena *a, struct upload *ret, struct err *err);

/* Appending: one appender at a time per upload (ERR_CONFLICT otherwise); offset must be what upload_get says.
 */
struct upload_appender;
struct upload_appender *upload_append_begin(struct store *s, const struct upload *u, int64_t offset,
                                            struct err *err);
bool upload_append(struct upload_appender *p, struct str piece,
                   struct err *err); /* ERR_TOO_LARGE past the length */
/* fsync; *ret_offset is durable now. When it equals the length the upload is finished: blob is set in ret.
 * Frees p. */
bool upload_append_end(struct upload_appender *p, struct upload *ret, struct err *err);

/* Ends an upload whose length was only a limit: what is there becomes the blob. ERR_INVALID (field digest)
 * when it is not the expected one (NULL: any), then the upload is dropped. */
bool upload_finish(struct store *s, struct upload *u, const struct digest *expected, struct err *err);

bool upload_delete(struct store *s, const struct upload *u, struct err *err);
/* Removes uploads past their expiry (24 h after the last byte). */
bool upload_sweep(struct store *s, struct err *err);

#endif
