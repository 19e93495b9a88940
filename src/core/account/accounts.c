#include "core/account/accounts.h"

#include "base/log.h"
#include "core/account/provider.h"
#include "core/account/role.h"
#include "core/account/state.h"
#include "core/controllers.h"

static bool write_uses(struct core *core, struct err *err)
{
    return credentials_store(core->accounts, false, err);
}

const struct controller controller_accounts = {
    .name = "accounts",
    .title = {"Notes when tokens and sessions were used, ends expired sessions",
              "记录令牌和会话的最近使用时间，清除过期会话"},
    .thread = "accounts",
    .first_s = 60,
    .every_s = 60,
    .tick = write_uses,
};

struct accounts *accounts_new(struct core *core, const char *config, struct err *err)
{
    struct providers *providers = providers_load(config, err);
    if (!providers)
        return NULL;
    if (!role_make_built_in(core, err)) {
        providers_free(providers);
        return NULL;
    }
    struct accounts *acc = base_zalloc(sizeof *acc);
    acc->core = core;
    acc->providers = providers;
    acc->credentials = map_new();
    acc->failures = failures_new();
    pthread_rwlock_init(&acc->lock, NULL);
    return acc;
}

void accounts_free(struct accounts *acc)
{
    if (!acc)
        return;
    struct err err = {0};
    if (!credentials_store(acc, true, &err))
        log_warn("last_used_at of tokens and sessions was not written: %s", err.message);
    credentials_drop(acc);
    failures_free(acc->failures);
    providers_free(acc->providers);
    pthread_rwlock_destroy(&acc->lock);
    free(acc);
}
