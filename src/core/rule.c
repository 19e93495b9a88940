#include "core/rule.h"

#include <stdio.h>

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c);
}

/* The first byte that `ok` refuses, as "contains ..."; NULL when there is none. */
static const char *first_bad(struct str s, bool (*ok)(char), char why[80])
{
    for (size_t i = 0; i < s.n; i++) {
        if (ok(s.p[i]))
            continue;
        size_t end = i;
        utf8_next(s, &end);
        snprintf(why, 80, "contains \"%.*s\"", (int)(end - i), s.p + i);
        return why;
    }
    return NULL;
}

static bool name_char(char c)
{
    return !memchr("/:*?\"<'>|", c, 9);
}

/* What cannot be seen, or turns round what follows: two names that differ only in these look the same.
 * Joiners (U+200C, U+200D) stay, as scripts and emoji need them. */
static bool invisible(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x80, 0x9f},     {0xad, 0xad},     {0x200b, 0x200b}, {0x200e, 0x200f},
                  {0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}};
    for (size_t i = 0; i < countof(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static const char *wrong_name(struct str s, char why[80])
{
    if (s.n && str_trim(s).n == 0)
        return "is only spaces";
    if (str_trim(s).n != s.n)
        return "begins or ends with a space";
    if (str_is(s, ".") || str_is(s, ".."))
        return "is the name of a folder itself";
    for (size_t i = 0; i < s.n;) {
        uint32_t c = utf8_next(s, &i);
        if (invisible(c)) {
            snprintf(why, 80, "contains the invisible character U+%04X", (unsigned)c);
            return why;
        }
    }
    return first_bad(s, name_char, why);
}

static bool login_char(char c)
{
    return is_alnum(c) || strchr("._@+-", c);
}

static const char *wrong_login(struct str s, char why[80])
{
    if (s.n && !is_alnum(s.p[0]))
        return "does not begin with a letter or digit";
    return first_bad(s, login_char, why);
}

static bool email_char(char c)
{
    return (unsigned char)c > ' ' && c != 127 && !strchr("\"(),:;<>[\\]", c);
}

static const char *wrong_email(struct str s, char why[80])
{
    if (s.n == 0)
        return NULL;
    const char *bad = first_bad(s, email_char, why);
    if (bad)
        return bad;
    struct str host;
    struct str local = str_cut(s, '@', &host);
    if (!local.n || !host.p || !host.n || memchr(host.p, '@', host.n))
        return "is not of the form name@host";
    if (host.p[0] == '.' || host.p[host.n - 1] == '.' || str_find(host, STR("..")) >= 0)
        return "has a malformed host";
    return NULL;
}

static bool hex_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *wrong_color(struct str s, char why[80])
{
    if (s.n != 7 || s.p[0] != '#')
        return "is no colour";
    return first_bad((struct str){s.p + 1, 6}, hex_char, why);
}

static const char *wrong_key(struct str s, char why[80])
{
    (void)why;
    return s.n == 0 || (s.n == 1 && (is_lower(s.p[0]) || is_digit(s.p[0]))) ? NULL : "is no shortcut";
}

static bool slug_char(char c)
{
    return is_lower(c) || is_digit(c) || c == '-';
}

static const char *wrong_slug(struct str s, char why[80])
{
    if (s.n && (s.p[0] == '-' || s.p[s.n - 1] == '-'))
        return "begins or ends with \"-\"";
    return first_bad(s, slug_char, why);
}

static bool image_char(char c)
{
    return is_lower(c) || is_digit(c) || strchr("-._/", c);
}

static const char *wrong_image(struct str s, char why[80])
{
    if (s.n && (strchr("-._/", s.p[0]) || strchr("-._/", s.p[s.n - 1])))
        return "begins or ends with a separator";
    if (str_find(s, STR("//")) >= 0 || str_find(s, STR("..")) >= 0)
        return "has two separators in a row";
    return first_bad(s, image_char, why);
}

static bool tag_char(char c)
{
    return is_alnum(c) || strchr("-._", c);
}

static const char *wrong_tag(struct str s, char why[80])
{
    if (s.n && (s.p[0] == '.' || s.p[0] == '-'))
        return "begins with \".\" or \"-\"";
    return first_bad(s, tag_char, why);
}

static const char *wrong_language(struct str s, char why[80])
{
    (void)why;
    return s.n == 0 || str_is(s, "en") || str_is(s, "zh") ? NULL : "is no language of the platform";
}

static bool permission_char(char c)
{
    return is_lower(c) || is_digit(c) || strchr("_-.*", c);
}

static const char *wrong_permission(struct str s, char why[80])
{
    if (str_is(s, "*"))
        return NULL;
    struct str verb;
    struct str kind = str_cut(s, '.', &verb);
    if (!kind.n || !verb.p || !verb.n || memchr(verb.p, '.', verb.n))
        return "is not of the form kind.verb";
    return first_bad(s, permission_char, why);
}

const struct rule rules[] = {
    {"name",
     "names are 1 to 50 characters without / : * ? \" < ' > | and invisible ones, no space at either end, "
     "not . "
     "or ..",
     "名称为 1 至 50 个字符，不含 / : * ? \" < ' > | 和不可见字符，首尾无空格，不是 . 或 ..",
     "^(?! |.* "
     "$|\\.{1,2}$)[^/"
     ":*?\"<'>|\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-"
     "\\u2069\\ufeff]+$",
     1, 50, wrong_name},
    {"login", "a sign-in name is 1 to 50 of a-z A-Z 0-9 . _ @ + - and begins with a letter or digit",
     "登录名为 1 至 50 个 a-z A-Z 0-9 . _ @ + - 字符，以字母或数字开头", "^[a-zA-Z0-9][a-zA-Z0-9._@+-]*$", 1,
     50, wrong_login},
    {"email", "an e-mail address is name@host, at most 254 characters",
     "邮箱地址为 名称@主机，最多 254 个字符", NULL, 0, 254, wrong_email},
    {"color", "a colour is # and six hexadecimal digits, as in #1a2b3c",
     "颜色为 # 加六位十六进制数，例如 #1a2b3c", "^#[0-9a-fA-F]{6}$", 7, 7, wrong_color},
    {"key", "a shortcut is one of a-z and 0-9", "快捷键为 a-z 或 0-9 中的一个", "^[a-z0-9]?$", 0, 1,
     wrong_key},
    {"slug", "1 to 50 of a-z, 0-9 and - inside", "1 至 50 个 a-z、0-9，中间可用 -",
     "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", 1, 50, wrong_slug},
    {"image-name", "an image's name is 1 to 50 of a-z 0-9 - . _ / with single separators inside",
     "镜像名称为 1 至 50 个 a-z 0-9 - . _ / 字符，分隔符不连续且不在首尾", "^[a-z0-9]+([._/-]+[a-z0-9]+)*$",
     1, 50, wrong_image},
    {"image-tag", "an image's version is 1 to 50 of a-z A-Z 0-9 - . _",
     "镜像版本为 1 至 50 个 a-z A-Z 0-9 - . _ 字符", "^[a-zA-Z0-9_][a-zA-Z0-9._-]*$", 1, 50, wrong_tag},
    {"language", "a language is en or zh", "语言为 en 或 zh", "^(en|zh)?$", 0, 2, wrong_language},
    {"permission", "a permission is kind.verb, where either may be *", "权限的形式为 kind.verb，两者都可为 *",
     "^(\\*|[a-z0-9_*-]+\\.[a-z0-9_*-]+)$", 1, 100, wrong_permission},
    {"password", "a password is 6 to 128 characters", "密码为 6 至 128 个字符", NULL, 6, 128, NULL},
    {"text", "a text has at most 500 characters", "文本最多 500 个字符", NULL, 0, 500, NULL},
};
const size_t rule_count = countof(rules);

const struct rule *rule_find(const char *name)
{
    for (size_t i = 0; name && i < rule_count; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

const char *rule_short(struct str text, char ret[RULE_SHORT])
{
    size_t end = 0;
    for (size_t chars = 0; end < text.n && chars < 40; chars++)
        utf8_next(text, &end);
    snprintf(ret, RULE_SHORT, "\"%.*s%s\"", (int)end, text.p ? text.p : "", end < text.n ? "…" : "");
    return ret;
}

bool rule_check(const struct rule *r, const char *field, struct str text, struct err *err)
{
    char why[80], shown[RULE_SHORT];
    const char *wrong = r->wrong ? r->wrong(text, why) : NULL;
    if (!wrong)
        return true;
    rule_short(text, shown);
    err_set(err, ERR_INVALID, field, "%s: %s %s; %s", field, shown, wrong, r->says);
    return err_chinese(err, "rule", "%s：%s 不合规则：%s", field, shown, r->says_zh);
}
