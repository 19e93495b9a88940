/* The names of the registry, as clients write them: image names, versions (tags), digests, references. Pure
 * functions over text; everything else is refused with the field and the rule. */
#ifndef INGOT_CORE_IMAGE_REFERENCE_H
#define INGOT_CORE_IMAGE_REFERENCE_H

#include "store/store.h"

#define REFERENCE_NAME_MAX 50
#define REFERENCE_TAG_MAX  50

/* "team/tool": parts of a-z 0-9 with single . _ __ or - between them, 1 to 50 characters. ERR_INVALID, field
 * name. */
bool reference_name(struct str name, struct err *err);
/* 1 to 50 of a-z A-Z 0-9 . _ -, not beginning with . or -. ERR_INVALID, field version. */
bool reference_tag(struct str tag, struct err *err);
/* "sha256:" and 64 lower-case hex digits. ERR_INVALID, field digest. */
bool reference_digest(struct str text, struct digest *ret, struct err *err);
/* The text of a digest. */
#define REFERENCE_DIGEST (7 + SHA256_HEX + 1)
char *reference_text(const struct digest *d, char ret[REFERENCE_DIGEST]);

/* Where a manifest is: by tag, or by digest. */
struct reference {
    struct str tag; /* STR_NULL: by digest */
    struct digest digest;
};
bool reference_parse(struct str text, struct reference *ret, struct err *err);

/* What people write to name an image to run: "name", "name:version", "name@sha256:...". The version of a name
 * without one is "latest". The name may begin with a project: whether it does, the caller finds out. */
struct reference_image {
    struct str name;
    struct reference at;
};
bool reference_image(struct str text, struct reference_image *ret, struct err *err);

#endif
