#include "api/router.h"

#include "core/kinds.h"
#include "net/url.h"

struct path {
    struct str segment[ROUTER_SEGMENTS];
    size_t n;
};

static bool not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, NULL, "there is nothing at this path");
}

static bool split(struct arena *a, struct str path, struct path *ret, struct err *err)
{
    struct str rest = {path.p + 1, path.n - 1};
    ret->n = 0;
    while (rest.p) {
        struct str raw = str_cut(rest, '/', &rest);
        if (raw.n == 0 || ret->n == ROUTER_SEGMENTS)
            return not_found(err);
        if (!url_segment(a, raw, &ret->segment[ret->n++], err))
            return false;
    }
    return true;
}

static bool pattern_fits(const char *pattern, const struct path *p, struct str params[API_PARAMS])
{
    struct str rest = {pattern + 1, strlen(pattern) - 1};
    size_t at = 0, n = 0;
    while (rest.p) {
        struct str part = str_cut(rest, '/', &rest);
        if (at == p->n)
            return false;
        if (part.p[0] == '{')
            params[n++] = p->segment[at];
        else if (!str_eq(part, p->segment[at]))
            return false;
        at++;
    }
    return at == p->n;
}

static bool method_is(struct str method, const char *wanted)
{
    return str_is(method, wanted) || (str_is(method, "HEAD") && strcmp(wanted, "GET") == 0);
}

static void allow(struct arena *a, const char **list, const char *method)
{
    const char *head = strcmp(method, "GET") == 0 ? ", HEAD" : "";
    if (!strstr(*list, method))
        *list = arena_printf(a, "%s%s%s%s", *list, **list ? ", " : "", method, head);
}

static bool match_routes(struct arena *a, struct str method, const struct path *p, struct match *ret,
                         const char **allowed)
{
    for (size_t t = 0; t < router_table_count; t++)
        for (const struct route *r = router_tables[t]; r->method; r++) {
            if (!pattern_fits(r->pattern, p, ret->params))
                continue;
            if (method_is(method, r->method)) {
                ret->route = r;
                return true;
            }
            allow(a, allowed, r->method);
        }
    return false;
}

static const struct action *find_action(const struct kind *k, struct str name, bool on_kind)
{
    for (const struct action *act = k->actions; act && act->name; act++)
        if (act->on_kind == on_kind && str_is(name, act->name))
            return act;
    return NULL;
}

static bool parse_id(struct str s, int64_t *ret)
{
    return s.n > 0 && s.p[0] >= '1' && s.p[0] <= '9' && str_to_i64(s, ret);
}

bool route_next(struct str *rest, struct route_word *ret)
{
    if (!rest->p || !rest->n)
        return false;
    struct str word = str_cut(*rest, ' ', rest);
    *ret = (struct route_word){.required = word.n && word.p[word.n - 1] == '!'};
    word.n -= ret->required;
    ret->name = str_cut(word, ':', &ret->type);
    return true;
}

/* /api/v1/<collection>[/<id>] */
static bool match_collection(const struct path *p, struct target *t)
{
    *t = (struct target){.kind = kind_by_collection(p->segment[2]), .across = true};
    return t->kind && (p->n == 3 || (p->n == 4 && parse_id(p->segment[3], &t->id)));
}

/* /api/v1/<plural>[/<id>[/<child's plural>[/<id>...]]][/<action>] */
static bool match_kind(const struct path *p, struct target *t)
{
    size_t at = 3;
    *t = (struct target){.kind = kind_by_plural(p->segment[2], NULL)};
    while (t->kind) {
        if (at == p->n)
            return true;
        if (!parse_id(p->segment[at], &t->id)) {
            t->action = find_action(t->kind, p->segment[at], true);
            return t->action && at + 1 == p->n;
        }
        if (++at == p->n)
            return true;
        const struct kind *child = kind_by_plural(p->segment[at], t->kind);
        if (!child) {
            t->action = find_action(t->kind, p->segment[at], false);
            return t->action && at + 1 == p->n;
        }
        if (t->grandparent)
            return false; /* deeper than any kind is */
        *t = (struct target){.kind = child, .parent = t->id, .grandparent = t->parent};
        at++;
    }
    return false;
}

static bool verb_allowed(struct arena *a, const struct target *t, struct str method, const char **allowed)
{
    static const struct {
        unsigned verb;
        bool one;
        const char *method;
    } verbs[] = {
        {VERB_LIST, false, "GET"},    {VERB_CREATE, false, "POST"},  {VERB_READ, true, "GET"},
        {VERB_UPDATE, true, "PATCH"}, {VERB_DELETE, true, "DELETE"},
    };
    if (t->action) {
        allow(a, allowed, t->action->read_only ? "GET" : "POST");
        return method_is(method, t->action->read_only ? "GET" : "POST");
    }
    bool ok = false;
    for (size_t i = 0; i < countof(verbs); i++) {
        bool has = t->kind->verbs & verbs[i].verb && !(t->across && strcmp(verbs[i].method, "GET") != 0);
        if (verbs[i].one != (t->id != 0) || !has)
            continue;
        allow(a, allowed, verbs[i].method);
        ok = ok || method_is(method, verbs[i].method);
    }
    return ok;
}

bool router_match(struct arena *a, struct str method, struct str path, struct match *ret,
                  const char **ret_allow, struct err *err)
{
    struct path p;
    struct match m = {0};
    const char *allowed = "";
    if (!split(a, path, &p, err))
        return false;
    bool ok = match_routes(a, method, &p, &m, &allowed);
    if (!ok && p.n >= 3 && str_is(p.segment[0], "api") && str_is(p.segment[1], "v1")) {
        ok = (match_kind(&p, &m.target) || match_collection(&p, &m.target)) &&
             verb_allowed(a, &m.target, method, &allowed);
        if (!ok)
            m.target.kind = NULL;
    }
    if (ok) {
        *ret = m;
        return true;
    }
    *ret_allow = allowed;
    if (!*allowed)
        return not_found(err);
    return err_set(err, ERR_METHOD, NULL, "this path answers only %s", allowed);
}
