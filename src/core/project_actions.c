/* What can be asked of a project: the table of all, by those who know it. */
#include "core/account/accounts.h"
#include "core/account/people.h"
#include "core/home/home.h"
#include "core/job/overview.h"

static bool run_home(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)input;
    (void)status;
    return home_project_write(op, o->id, out, err);
}

const struct action project_actions[] = {
    {.name = "home",
     .permission = "project.read",
     .read_only = true,
     .answer = "ProjectHome",
     .title = {"Home", "首页"},
     .run = run_home},
    {.name = "overview",
     .permission = "project.read",
     .read_only = true,
     .fields = overview_fields,
     .answer = "ProjectOverview",
     .title = {"Overview", "概览"},
     .run = overview_run},
    {.name = "forecast",
     .permission = "project.read",
     .read_only = true,
     .fields = forecast_fields,
     .answer = "Forecast",
     .title = {"Forecast", "预计"},
     .run = forecast_run},
    {.name = "people",
     .permission = "member.read",
     .read_only = true,
     .fields = people_fields,
     .answer = "ProjectPeople",
     .title = {"People", "人员"},
     .run = people_run},
    {0},
};
