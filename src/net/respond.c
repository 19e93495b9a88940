/* The public functions that answer, but for streams, sockets and the proxy. */
#include "net/exchange.h"

#include <stdio.h>

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } table[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {499, "Client Closed Request"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
        {101, "Switching Protocols"},
    };
    for (size_t i = 0; i < countof(table); i++)
        if (table[i].status == status)
            return table[i].text;
    return "Status";
}

bool http_answer_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

const struct header http_problem_type = {{"Content-Type", 12}, {"application/problem+json", 24}};

void http_problem(struct buf *b, int status, const char *detail)
{
    buf_printf(b, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\"",
               http_reason(status), status);
    /* The details are our own sentences, but some quote what the parser said. */
    for (const char *p = detail; *p; p++)
        buf_char(b, *p == '"' || *p == '\\' || (unsigned char)*p < ' ' ? '\'' : *p);
    buf_z(b, "\"}");
}

static struct answer memory(int status, const struct header *headers, size_t n, struct str body)
{
    return (struct answer){
        .kind = ANSWER_MEMORY, .status = status, .headers = headers, .n = n, .body = body, .fd = -1};
}

void respond(struct request *r, int status, const struct header *headers, size_t n, struct str body)
{
    exchange_answer(exchange_of(r), memory(status, headers, n, body), false);
}

void respond_static(struct request *r, int status, const struct header *headers, size_t n, struct str body)
{
    exchange_answer(exchange_of(r), memory(status, headers, n, body), true);
}

void respond_file(struct request *r, int status, const struct header *headers, size_t n, int fd,
                  uint64_t offset, uint64_t length)
{
    struct answer a = {.kind = ANSWER_FILE,
                       .status = status,
                       .headers = headers,
                       .n = n,
                       .fd = fd,
                       .offset = offset,
                       .length = (int64_t)length};
    exchange_answer(exchange_of(r), a, true);
}
