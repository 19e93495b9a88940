#include "api/gateway/model_path.h"

#include "base/messages.h"

#include <inttypes.h>
#include <stdio.h>

#define MODELS     "/v2/models/"
#define REPOSITORY "/v2/repository/"

/* Names have no escapes, so that nothing can be written in a second way. */
static bool is_plain(struct str path)
{
    if (path.n == 0 || path.p[0] != '/')
        return false;
    struct str rest = {path.p + 1, path.n - 1};
    while (rest.p) {
        struct str s = str_cut(rest, '/', &rest);
        if (s.n == 0 || str_is(s, ".") || str_is(s, ".."))
            return false;
        for (size_t i = 0; i < s.n; i++)
            if (s.p[i] == '%' || s.p[i] == '\\' || s.p[i] == ';' || (unsigned char)s.p[i] <= ' ')
                return false;
    }
    return true;
}

/* "fruit", or "fruit.detector" of a model with several parts: what follows the name. */
static bool begins_with_name(struct str s, const char *name, struct str *ret_part)
{
    size_t n = strlen(name);
    if (!str_starts(s, name) || (s.n > n && s.p[n] != '.'))
        return false;
    *ret_part = (struct str){s.p + n, s.n - n};
    return true;
}

static bool is_its_name(const struct serve_route *r, struct str s, struct str *ret_part)
{
    char id[24];
    snprintf(id, sizeof id, "id.%" PRId64, r->service);
    if (begins_with_name(s, r->name, ret_part) || begins_with_name(s, id, ret_part))
        return true;
    for (size_t i = 0; i < r->n_aliases; i++) {
        const char *slash = strrchr(r->aliases[i], '/');
        if (begins_with_name(s, slash ? slash + 1 : r->aliases[i], ret_part))
            return true;
    }
    return false;
}

static const char *of_models(const struct serve_route *r, const char *model, struct str path, struct arena *a)
{
    const size_t n = sizeof MODELS - 1;
    struct str part, after, name = str_cut((struct str){path.p + n, path.n - n}, '/', &after);
    if (!is_its_name(r, name, &part))
        return arena_strz(a, path);
    return arena_printf(a, MODELS "%s" STR_FMT "%s" STR_FMT, model, STR_ARG(part), after.p ? "/" : "",
                        STR_ARG(after));
}

const char *model_path(const struct serve_route *r, const char *model, struct str rest, struct arena *a,
                       struct err *err)
{
    if (is_plain(rest)) {
        if (str_is(rest, "/predict"))
            return arena_printf(a, MODELS "%s/predict", model);
        if (str_starts(rest, MODELS))
            return of_models(r, model, rest, a);
        if (str_is(rest, "/v2") || str_is(rest, "/v2/models") || str_is(rest, REPOSITORY "index") ||
            str_starts(rest, "/v2/health/"))
            return arena_strz(a, rest);
        if (str_starts(rest, REPOSITORY)) {
            err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_GATEWAY_REPOSITORY);
            return NULL;
        }
    }
    err_message(err, ERR_NOT_FOUND, NULL, MESSAGE_GATEWAY_MODEL_PATH);
    return NULL;
}
