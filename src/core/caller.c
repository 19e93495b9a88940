#include "core/caller.h"

#include "core/account/grants.h"

static const char system_mark;
const struct caller caller_system = {.name = "system", .administrator = true, .grants = &system_mark};

static bool is_system(const struct caller *c)
{
    return c->grants == &system_mark;
}

const struct grants *grants_of(const struct caller *c)
{
    return is_system(c) || c->user == 0 ? NULL : c->grants;
}

bool caller_may(const struct caller *c, const char *permission, int64_t project)
{
    if (is_system(c))
        return true;
    const struct grants *g = grants_of(c);
    return g && grants_may(g, permission_find(permission), project);
}

bool caller_in_project(const struct caller *c, int64_t project)
{
    if (is_system(c))
        return true;
    const struct grants *g = grants_of(c);
    return g && (g->administrator || grants_find(g, project) ||
                 permission_has(&g->platform, permission_find("project.read")));
}

bool caller_is(const struct caller *c, int64_t user)
{
    return c->user == user && !c->job;
}

bool caller_scoped(const struct caller *c, const char *permission, struct err *err)
{
    const struct grants *g = grants_of(c);
    if (!g || !g->narrowed || permission_has(&g->scopes, permission_find(permission)))
        return true;
    return err_set(err, ERR_FORBIDDEN, permission, "the permission %s is not among the token's scopes",
                   permission);
}

bool caller_need(const struct caller *c, const char *permission, int64_t project, struct err *err)
{
    if (caller_may(c, permission, project))
        return true;
    if (c->user == 0)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "nobody is signed in");
    if (project != 0 && !caller_in_project(c, project))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such object, or it is in a project of others");
    const struct grants *g = grants_of(c);
    return err_set(err, ERR_FORBIDDEN, permission, "the permission %s is missing%s%s", permission,
                   project != 0 ? " in this project" : "",
                   g && g->narrowed ? " or not among the token's scopes" : "");
}
