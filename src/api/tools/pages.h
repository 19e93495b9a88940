/* Tools that are only pages (core/environment/tool.h, `pages`): Netron. The pages come from the tools'
 * folder; what they show comes from a version at data/<path>, with the rights of the caller, who is asked for
 * again at each request. */
#ifndef INGOT_API_TOOLS_PAGES_H
#define INGOT_API_TOOLS_PAGES_H

#include "core/environment/tools.h"
#include "net/http.h"

struct pages_visit {
    struct core *core;
    struct request *request;
    const struct caller *caller;
    const struct tool *tool;
    int64_t id;      /* of the version */
    struct str rest; /* undecoded, what follows /t/<id>/<tool>/ */
};
/* On a pool thread. false when nothing was answered, and the caller says why. */
bool pages_respond(const struct pages_visit *v, struct err *err);

#endif
