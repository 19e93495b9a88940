#include "exec/exec.h"

#include <stdio.h>

char *exec_id_format(struct exec_id id, char ret[EXEC_ID_MAX])
{
    snprintf(ret, EXEC_ID_MAX, "%lld-%d-%d", (long long)id.job, id.attempt, id.rank);
    return ret;
}

bool exec_id_parse(struct str s, struct exec_id *ret)
{
    struct str rest, rank;
    uint64_t job, attempt, number;
    struct str first = str_cut(s, '-', &rest);
    struct str second = str_cut(rest, '-', &rank);
    if (!str_to_u64(first, &job) || !str_to_u64(second, &attempt) || !str_to_u64(rank, &number))
        return false;
    if (job > INT64_MAX || attempt > INT32_MAX || number > INT32_MAX)
        return false;
    struct exec_id id = {(int64_t)job, (int32_t)attempt, (int32_t)number};
    char text[EXEC_ID_MAX];
    if (!str_is(s, exec_id_format(id, text)))
        return false; /* leading zeros: another name of the same thing */
    *ret = id;
    return true;
}

bool exec_id_equal(struct exec_id a, struct exec_id b)
{
    return a.job == b.job && a.attempt == b.attempt && a.rank == b.rank;
}

const char *exec_state_name(enum exec_state state)
{
    static const char *const names[] = {"starting", "running", "exited"};
    return names[state];
}

const char *exec_end_name(enum exec_end end)
{
    static const char *const names[] = {"none", "exit", "signal", "stopped", "oom", "no-start", "lost"};
    return names[end];
}
