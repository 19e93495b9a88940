/* What kind_tool.c and tool_fetch.c share. */
#ifndef INGOT_CORE_ENVIRONMENT_TOOL_OWN_H
#define INGOT_CORE_ENVIRONMENT_TOOL_OWN_H

#include "core/environment/tool.h"

/* What the last fetch said. of: the tool's name, or "import" for an archive, which may hold several. */
const char *tool_log_path(const struct core *core, struct arena *a, const char *of);
bool tool_installed(struct core *core, const struct tool *t, struct arena *a);

#endif
