#include "core/data/database_query.h"

#include "base/messages.h"

#define FIELD "database"

/* --- words --- */

/* What a reading statement has no use for: it writes files, changes or locks rows, counts up a sequence. */
static const struct {
    const char *word, *after; /* after: only behind that word */
} refused[] = {
    {"into", NULL},   {"update", NULL},  {"delete", NULL},    {"lock", NULL},
    {"share", "for"}, {"value", "next"}, {"procedure", NULL},
};

/* What may stand before a parenthesis: the grammar's own words, then built-in functions that read and do not
 * wait. Whatever is not here (SLEEP, GET_LOCK, LOAD_FILE, NEXTVAL, functions of the database's own) is
 * refused. */
static const char callable[] =
    " all and any as between by case cross distinct div else end except exists for from full group having "
    "ignore in index inner intersect interval is join key lateral left like limit match minus mod natural "
    "not null of "
    "offset on or order outer over partition range recursive regexp right rlike row rows select separator "
    "some "
    "straight_join then to union unique use using values when where window with within xor binary against "
    "array "
    "columns nested path "

    "abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bin_to_uuid "
    "bit_and "
    "bit_count bit_length bit_or bit_xor cast ceil ceiling char char_length character_length charset chr "
    "coalesce "
    "coercibility collation compress concat concat_ws conv convert convert_tz cos cot count crc32 crc32c "
    "cume_dist "
    "curdate current_date current_role current_time current_timestamp current_user curtime database date "
    "date_add "
    "date_format date_sub datediff datetime day dayname dayofmonth dayofweek dayofyear decimal decode "
    "decode_oracle "
    "default degrees dense_rank double elt encode exp export_set extract extractvalue field find_in_set "
    "first_value "
    "float floor format format_bytes format_pico_time found_rows from_base64 from_days from_unixtime "
    "geometrycollection "
    "get_format greatest group_concat grouping hex hour if ifnull inet_aton inet_ntoa inet6_aton inet6_ntoa "
    "insert "
    "instr int integer is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull json json_array "
    "json_array_append "
    "json_array_insert json_array_intersect json_arrayagg json_compact json_contains json_contains_path "
    "json_depth "
    "json_detailed json_equals json_exists json_extract json_insert json_key_value json_keys json_length "
    "json_loose "
    "json_merge json_merge_patch json_merge_preserve json_normalize json_object json_object_filter_keys "
    "json_object_to_array json_objectagg json_overlaps json_pretty json_query json_quote json_remove "
    "json_replace "
    "json_schema_valid json_search json_set json_storage_size json_table json_type json_unquote json_valid "
    "json_value "
    "kdf lag last_day last_value lcase lead least length lengthb linestring ln localtime localtimestamp "
    "locate log "
    "log10 log2 lower lpad ltrim make_set makedate maketime max mbrcontains mbrcoveredby mbrcovers "
    "mbrdisjoint "
    "mbrequals mbrintersects mbroverlaps mbrtouches mbrwithin md5 median microsecond mid min minute month "
    "monthname "
    "multilinestring multipoint multipolygon natural_sort_key nchar now nth_value ntile nullif numeric nvl "
    "nvl2 oct "
    "octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi point polygon "
    "position "
    "pow power quarter quote radians rand random_bytes rank real regexp_instr regexp_like regexp_replace "
    "regexp_substr "
    "repeat replace reverse round row_number rpad rtrim schema sec_to_time second session_user sformat sha "
    "sha1 sha2 "
    "sign signed sin soundex space sqrt st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt "
    "st_buffer "
    "st_centroid st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance "
    "st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_geohash st_geometryn "
    "st_geometrytype "
    "st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects "
    "st_isclosed "
    "st_isempty st_issimple st_isvalid st_latfromgeohash st_latitude st_length st_longfromgeohash "
    "st_longitude "
    "st_makeenvelope st_numgeometries st_numinteriorrings st_numpoints st_overlaps st_pointfromgeohash "
    "st_pointn "
    "st_simplify st_srid st_startpoint st_symdifference st_touches st_transform st_union st_within st_x st_y "
    "std "
    "stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring substring_index subtime sum "
    "sysdate "
    "system_user tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 "
    "to_char "
    "to_days to_number to_seconds trim trim_oracle truncate ucase uncompress uncompressed_length unhex "
    "unix_timestamp "
    "unsigned upper user utc_date utc_time utc_timestamp uuid uuid_to_bin uuid_v4 uuid_v7 var_pop var_samp "
    "varbinary "
    "varchar variance version week weekday weekofyear weight_string year yearweek ";

/* --- from text to tokens --- */

enum token_type {
    WORD,
    NUMBERED,
    QUOTED,
    MARK
}; /* NUMBERED: a word right behind a number; QUOTED: text or `name` */

struct token {
    enum token_type type;
    struct str text;
};

struct reader {
    struct str s;
    size_t at;
    struct token *tokens;
    size_t n;
};

static bool no_end(struct err *err)
{
    return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_NO_END);
}

static char peek(const struct reader *r, size_t ahead)
{
    return r->at + ahead < r->s.n ? r->s.p[r->at + ahead] : 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static void push(struct reader *r, enum token_type type, size_t from)
{
    r->tokens[r->n++] = (struct token){type, {r->s.p + from, r->at - from}};
}

static void skip_line(struct reader *r)
{
    while (r->at < r->s.n && r->s.p[r->at] != '\n')
        r->at++;
}

/* Those of the kind that the server runs or takes orders from are no comments. */
static bool skip_comment(struct reader *r, struct err *err)
{
    char first = peek(r, 2);
    if (first == '!' || first == '+' || ((first == 'M' || first == 'm') && peek(r, 3) == '!'))
        return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_COMMENT, first);
    for (r->at += 2; r->at < r->s.n; r->at++)
        if (peek(r, 0) == '*' && peek(r, 1) == '/') {
            r->at += 2;
            return true;
        }
    return no_end(err);
}

static bool read_quoted(struct reader *r, struct err *err)
{
    size_t from = r->at;
    char quote = peek(r, 0);
    for (r->at++; r->at < r->s.n; r->at++) {
        char c = peek(r, 0);
        if (c == '\\' && quote != '`') {
            r->at++;
        } else if (c == quote && peek(r, 1) == quote) {
            r->at++;
        } else if (c == quote) {
            r->at++;
            push(r, QUOTED, from);
            return true;
        }
    }
    return no_end(err);
}

/* "1.5into" is a number and a word to the server. */
static void read_number(struct reader *r)
{
    while (is_digit(peek(r, 0)))
        r->at++;
    if (peek(r, 0) == '.')
        r->at++;
    while (is_digit(peek(r, 0)))
        r->at++;
    size_t sign = peek(r, 1) == '+' || peek(r, 1) == '-';
    if ((peek(r, 0) == 'e' || peek(r, 0) == 'E') && is_digit(peek(r, 1 + sign)))
        for (r->at += 1 + sign; is_digit(peek(r, 0));)
            r->at++;
}

static void read_word(struct reader *r)
{
    enum token_type type = WORD;
    if (is_digit(peek(r, 0))) {
        read_number(r);
        type = NUMBERED;
    }
    size_t from = r->at;
    while (is_word(peek(r, 0)))
        r->at++;
    push(r, type, from);
}

static bool read_token(struct reader *r, struct err *err)
{
    char c = peek(r, 0), next = peek(r, 1);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        r->at++;
        return true;
    }
    if ((unsigned char)c < ' ' || c == 0x7f || c == '$')
        return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_CHARACTER, (unsigned)(unsigned char)c);
    if (c == '#' || (c == '-' && next == '-' && (unsigned char)peek(r, 2) <= ' ')) {
        skip_line(r);
        return true;
    }
    if (c == '/' && next == '*')
        return skip_comment(r, err);
    if (c == '\'' || c == '"' || c == '`')
        return read_quoted(r, err);
    if (is_word(c)) {
        read_word(r);
        return true;
    }
    r->at++;
    push(r, MARK, r->at - 1);
    return true;
}

/* --- the rules --- */

static bool is_mark(const struct reader *r, size_t i, char c)
{
    return i < r->n && r->tokens[i].type == MARK && r->tokens[i].text.p[0] == c;
}

static bool is_the_word(const struct reader *r, size_t i, const char *word)
{
    return i < r->n && (r->tokens[i].type == WORD || r->tokens[i].type == NUMBERED) &&
           str_ieq(r->tokens[i].text, str_of(word));
}

static int shown(struct str s)
{
    return (int)(s.n > 60 ? 60 : s.n);
}

static bool check_start(const struct reader *r, struct err *err)
{
    size_t i = 0;
    while (is_mark(r, i, '('))
        i++;
    if (is_the_word(r, i, "select") || is_the_word(r, i, "with"))
        return true;
    struct str first = i < r->n ? r->tokens[i].text : STR("");
    return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_NO_SELECT, shown(first), first.p);
}

static bool check_word(const struct reader *r, size_t i, struct err *err)
{
    for (size_t k = 0; k < countof(refused); k++)
        if (is_the_word(r, i, refused[k].word) &&
            (!refused[k].after || (i > 0 && is_the_word(r, i - 1, refused[k].after))))
            return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_WORD, shown(r->tokens[i].text),
                               r->tokens[i].text.p);
    return true;
}

static bool is_callable(struct str name)
{
    char word[40] = " ";
    if (name.n + 3 > sizeof word)
        return false;
    for (size_t i = 0; i < name.n; i++)
        word[i + 1] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] + 32 : name.p[i]);
    word[name.n + 1] = ' ';
    return strstr(callable, word) != NULL;
}

/* `names (a, b) AS (SELECT ...)` of WITH looks like a call; no call is followed by that. */
static bool is_column_list(const struct reader *r, size_t open)
{
    size_t depth = 0;
    for (size_t i = open; i < r->n; i++) {
        depth += is_mark(r, i, '(');
        if (is_mark(r, i, ')') && --depth == 0)
            return is_the_word(r, i + 1, "as") && is_mark(r, i + 2, '(');
    }
    return false;
}

static bool check_call(const struct reader *r, size_t i, struct err *err)
{
    const struct token *t = &r->tokens[i];
    bool named =
        t->type == WORD || (t->type != MARK && t->text.n > 0 && t->text.p[0] != '\'' && t->text.p[0] != '"');
    bool member = i > 0 && is_mark(r, i - 1, '.');
    if (!named || !is_mark(r, i + 1, '(') || (t->type == WORD && !member && is_callable(t->text)) ||
        is_column_list(r, i + 1))
        return true;
    return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_CALL, shown(t->text), t->text.p);
}

bool database_query_check(struct arena *a, struct str query, struct err *err)
{
    struct reader r = {.s = query, .tokens = arena_array(a, struct token, query.n + 1)};
    while (r.at < query.n)
        if (!read_token(&r, err))
            return false;
    while (r.n > 0 && is_mark(&r, r.n - 1, ';'))
        r.n--;
    if (!check_start(&r, err))
        return false;
    for (size_t i = 0; i < r.n; i++) {
        if (is_mark(&r, i, ';'))
            return err_message(err, ERR_INVALID, FIELD, MESSAGE_QUERY_TWO);
        if (!check_word(&r, i, err) || !check_call(&r, i, err))
            return false;
    }
    return true;
}
