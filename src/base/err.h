/* The one error type. A fallible function returns bool (or a pointer) and takes `struct err *err` last; on
 * failure it fills *err and leaves its results untouched. The table of codes (name, HTTP status, exit code,
 * title) is err_info() and exists once. Texts are held in the struct itself, so an error has no lifetime. */
#ifndef INGOT_BASE_ERR_H
#define INGOT_BASE_ERR_H

#include "base/base.h"

enum err_code {
    ERR_NONE = 0,
    ERR_INVALID,      /* 422 a value breaks a rule; field names it */
    ERR_MALFORMED,    /* 400 the request cannot be read at all */
    ERR_UNAUTHORIZED, /* 401 not signed in */
    ERR_FORBIDDEN,    /* 403 signed in, permission missing (named in message) */
    ERR_NOT_FOUND,    /* 404 */
    ERR_METHOD,       /* 405 */
    ERR_CONFLICT,     /* 409 state or reference forbids it */
    ERR_EXISTS,       /* 409 a unique value is taken; field names it */
    ERR_STALE,        /* 412 If-Match does not match */
    ERR_TOO_LARGE,    /* 413 */
    ERR_MEDIA_TYPE,   /* 415 */
    ERR_PRECONDITION, /* 428 If-Match is required */
    ERR_TOO_MANY,     /* 429 slow down */
    ERR_QUOTA,        /* 507 the project's storage or quota is used up */
    ERR_UNAVAILABLE,  /* 503 database lost, disk full, draining: try again */
    ERR_HELD,         /* 503 another server has the data folder or the database */
    ERR_UPSTREAM,     /* 502 */
    ERR_INTERNAL,     /* 500 */
    ERR_COUNT,
};

struct err {
    enum err_code code;
    char field[64];
    char message[448];
    const char *id; /* of a sentence of base/messages.h; NULL: there is only the English message */
    char zh[448];   /* the same in Chinese, when it has an id */
};

struct err_info {
    const char *name; /* "invalid", the last part of the problem's type */
    int status;       /* HTTP */
    int exit_code;    /* of the CLI */
    const char *title;
};

const struct err_info *err_info(enum err_code code);
/* The code for an HTTP status, ERR_INTERNAL when the table has none. */
enum err_code err_from_status(int status);

/* Fills err (NULL allowed) and returns false, so `return err_set(...)` ends a function. Control characters in
 * the text are replaced, invalid UTF-8 too. field may be NULL. */
bool err_set(struct err *err, enum err_code code, const char *field, const char *fmt, ...) printf_like(4, 5);
/* The same with a sentence of base/messages.h, whose macro is id, English and Chinese; its arguments follow.
 */
bool err_message(struct err *err, enum err_code code, const char *field, const char *id, const char *en,
                 const char *zh, ...) printf_like(5, 7) printf_like(6, 7);
/* The same with another error's sentence behind it: "left out: it is encrypted". err may be why itself. */
bool err_because(struct err *err, enum err_code code, const char *field, const struct err *why,
                 const char *id, const char *en, const char *zh, ...) printf_like(6, 8) printf_like(7, 8);
const char *err_zh(const struct err *err); /* the Chinese; the English where there is only that */
/* Adds the id and the Chinese to what err_set said, for a sentence whose arguments are sentences themselves.
 */
bool err_chinese(struct err *err, const char *id, const char *zh, ...) printf_like(3, 4);
/* Adds errno's text: "fmt: No space left on device". ENOSPC and EDQUOT become ERR_UNAVAILABLE. */
bool err_errno(struct err *err, int errnum, const char *fmt, ...) printf_like(3, 4);
/* For loops that go on when one item fails: keeps the first failure in err (NULL allowed); returns false. */
bool err_keep(struct err *err, const struct err *one);

/* The same, with the false in sight of the compiler and of clang-tidy: they then know that results of a
 * function that ended this way are never read. */
#define err_set(...)                                                                                         \
    ({                                                                                                       \
        (err_set)(__VA_ARGS__);                                                                              \
        false;                                                                                               \
    })
#define err_message(...)                                                                                     \
    ({                                                                                                       \
        (err_message)(__VA_ARGS__);                                                                          \
        false;                                                                                               \
    })
#define err_because(...)                                                                                     \
    ({                                                                                                       \
        (err_because)(__VA_ARGS__);                                                                          \
        false;                                                                                               \
    })
#define err_errno(...)                                                                                       \
    ({                                                                                                       \
        (err_errno)(__VA_ARGS__);                                                                            \
        false;                                                                                               \
    })

#endif
