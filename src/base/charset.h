/* Text of other programs that is not UTF-8. */
#ifndef INGOT_BASE_CHARSET_H
#define INGOT_BASE_CHARSET_H

#include "base/arena.h"

/* raw, which is in the named charset (as iconv knows it: "GB18030", "UTF-16"), as UTF-8 in the arena. False
 * when the charset is not known or raw is not all of it. */
bool charset_to_utf8(struct arena *a, const char *charset, struct str raw, struct str *ret);

#endif
