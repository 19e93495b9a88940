/* Files with ETag and Range (RFC 9110, one range). */
#ifndef INGOT_API_RANGE_H
#define INGOT_API_RANGE_H

#include "net/http.h"
#include "store/store.h"

enum range { RANGE_ALL, RANGE_PART, RANGE_BAD };
/* What of size bytes is asked for: bytes=a-b, a-, -n; several ranges or another unit: all of it. */
enum range range_parse(struct str header, uint64_t size, uint64_t *ret_offset, uint64_t *ret_length);
/* If-None-Match: a list of tags, weak or not, or "*". etag has its quotes. */
bool range_names_etag(struct str list, const char *etag);
/* The Content-Range of a part. */
const char *range_text(struct arena *a, uint64_t offset, uint64_t length, uint64_t size);
/* 416. */
void range_refuse(struct request *r, uint64_t size);
/* Answers with the file: 200, 206, 304 or 416. etag has its quotes. Owns fd. headers (type, disposition) are
 * added. */
void range_respond_file(struct request *r, int fd, uint64_t size, const char *etag,
                        const struct header *headers, size_t n);
/* The same with a blob. One that is not here yet is sent while it comes; when that fails in the middle, the
 * connection breaks off. false when there is nothing to answer with, and the caller says why. */
bool range_respond_blob(struct request *r, struct store *s, const struct digest *d, const char *etag,
                        const struct header *headers, size_t n, struct err *err);

#endif
