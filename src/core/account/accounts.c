#include "core/account/accounts.h"

#include "core/account/provider.h"
#include "core/account/role.h"
#include "core/account/state.h"

#define EVERY_S 60

static unsigned keep(void *arg)
{
    credentials_store(arg, false);
    return EVERY_S;
}

struct accounts *accounts_new(struct core *core, const char *config, struct err *err)
{
    static const struct ticker_work work = {.name = "accounts", .run = keep, .first_s = EVERY_S};
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
    ticker_start(&acc->ticker, &work, acc);
    return acc;
}

void accounts_free(struct accounts *acc)
{
    if (!acc)
        return;
    ticker_stop(&acc->ticker);
    credentials_store(acc, true);
    credentials_drop(acc);
    failures_free(acc->failures);
    providers_free(acc->providers);
    pthread_rwlock_destroy(&acc->lock);
    free(acc);
}
