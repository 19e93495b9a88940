#include "cli/remote.h"

bool remote_prepare(struct cli *cli, const char *method, const char *path, struct client_request *q,
                    struct client_header headers[4], struct err *err)
{
    struct arena *a = &cli->arena;
    if (!cli->config.url)
        return err_set(
            err, ERR_UNAUTHORIZED, NULL,
            "no server is known: sign in with `ingot login URL`, or set INGOT_URL and INGOT_TOKEN");
    *q = (struct client_request){.method = method,
                                 .url = arena_printf(a, "%s/api/v1%s", cli->config.url, path),
                                 .headers = headers,
                                 .body_fd = -1,
                                 .timeout_s = cli->timeout_s,
                                 .ca_file = cli->config.ca_file,
                                 .insecure = cli->config.insecure};
    headers[q->header_count++] = (struct client_header){"Accept", "application/json"};
    headers[q->header_count++] = (struct client_header){"User-Agent", "ingot-cli/" INGOT_VERSION};
    if (cli->config.token)
        headers[q->header_count++] =
            (struct client_header){"Authorization", arena_printf(a, "Bearer %s", cli->config.token)};
    return true;
}

static enum err_code code_of(struct str name, int status)
{
    for (int i = ERR_INVALID; i < ERR_COUNT; i++)
        if (str_is(name, err_info((enum err_code)i)->name))
            return (enum err_code)i;
    return err_from_status(status);
}

bool remote_refused(struct cli *cli, int status, struct str body, struct err *err)
{
    struct err ignored;
    yyjson_val *v = body.n ? json_parse(&cli->arena, body, &ignored) : NULL;
    if (!yyjson_is_obj(v))
        return err_set(err, err_from_status(status), NULL, "%s answered with status %d and no explanation",
                       cli->config.url, status);
    cli->problem = v;
    struct str detail = json_str(yyjson_obj_get(v, "detail"));
    if (!detail.n)
        detail = json_str(yyjson_obj_get(v, "title"));
    if (!detail.n) /* of a model that is asked through the platform */
        detail = json_str(yyjson_obj_get(v, "error"));
    struct str field = json_str(yyjson_obj_get(v, "field"));
    return err_set(err, code_of(json_str(yyjson_obj_get(v, "code")), status),
                   field.n ? arena_strz(&cli->arena, field) : NULL, STR_FMT, STR_ARG(detail));
}

bool remote_do(struct cli *cli, const struct remote_call *call, struct client_answer *ret, struct err *err)
{
    struct arena *a = &cli->arena;
    struct client_request q;
    struct client_header headers[8];
    if (!remote_prepare(cli, call->method, call->path, &q, headers, err))
        return false;
    if (call->cookie) {
        q.header_count = 2; /* instead of the token */
        headers[q.header_count++] = (struct client_header){"Cookie", call->cookie};
        headers[q.header_count++] = (struct client_header){"Origin", cli->config.url};
    }
    if (call->body.p) {
        headers[q.header_count++] = (struct client_header){"Content-Type", "application/json"};
        q.body = call->body;
    }
    if (call->if_match)
        headers[q.header_count++] =
            (struct client_header){"If-Match", arena_printf(a, "\"%lld\"", (long long)call->if_match)};
    struct client_answer answer;
    if (!client_do(a, &q, &answer, err))
        return false;
    if (answer.status >= 400)
        return remote_refused(cli, answer.status, answer.body, err);
    *ret = answer;
    return true;
}

bool remote_json(struct cli *cli, const struct remote_call *call, yyjson_val **ret, struct err *err)
{
    struct client_answer answer;
    if (!remote_do(cli, call, &answer, err))
        return false;
    if (call->ret_status)
        *call->ret_status = answer.status;
    if (!answer.body.n) {
        *ret = NULL;
        return true;
    }
    struct err parse = {0};
    yyjson_val *v = json_parse(&cli->arena, answer.body, &parse);
    if (!v)
        return err_set(err, ERR_UPSTREAM, NULL,
                       "%s answered with something that is no JSON (%s): is it an Ingot "
                       "server?",
                       cli->config.url, parse.message);
    *ret = v;
    return true;
}
