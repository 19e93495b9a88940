#include "core/data/unpack.h"

#include "base/charset.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/messages.h"
#include "core/data/rar_check.h"
#include "core/quota.h"
#include "media/media.h"
#include "store/manifest.h"

#include <archive.h>
#include <archive_entry.h>

#define BLOCK         (256 << 10)
#define KEEP_EVERY_NS (UINT64_C(1200) * 1000000000) /* a third of the time that unused blobs are kept */

bool unpack_begin(struct unpacked *u, struct task *t, struct err *err)
{
    *u =
        (struct unpacked){.arena = t->arena, .core = t->core, .project = t->project, .kept_at = clock_mono()};
    if (!quota_storage(t->core, t->project, &u->limit, err))
        return false;
    u->batch = blob_batch_new(t->core->store);
    if (u->limit >= 0)
        u->counted = map_new();
    return u->limit < 0 || store_project_bytes(t->core->store, t->project, &u->used, err);
}

void unpack_end(struct unpacked *u)
{
    blob_batch_free(u->batch);
    map_free(u->counted);
}

/* A blob that the project uses already takes no more room, nor does the same one twice. */
bool unpack_admit(struct unpacked *u, const struct digest *blob, int64_t size, struct err *err)
{
    struct str key = {(const char *)blob->b, sizeof blob->b};
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (u->limit < 0 || map_get(u->counted, key))
        return true;
    if (!db_query_one(u->core->db, &a, "SELECT 1 FROM blob_uses WHERE project = ? AND digest = ?",
                      db_args(db_int(u->project), digest_arg(blob)), &row, &found, err))
        return false;
    if (found)
        return true;
    map_set(u->counted, key, u);
    u->fresh += size;
    return u->fresh <= u->limit - u->used || err_message(err, ERR_QUOTA, "storage", MESSAGE_IMPORT_QUOTA,
                                                         (long long)u->limit, (long long)u->used);
}

bool unpack_keep(struct task *t, struct unpacked *u, struct err *err)
{
    uint64_t now = clock_mono();
    if (now - u->kept_at < KEEP_EVERY_NS)
        return true;
    u->kept_at = now;
    for (size_t i = 0; i < u->n; i++) {
        int64_t size;
        if (!blob_touch(t->core->store, &u->file[i].blob, &size, err))
            return false;
    }
    return true;
}

bool unpack_add(struct unpacked *u, struct str path, const struct digest *blob, int64_t size, struct err *err)
{
    if (!unpack_admit(u, blob, size, err))
        return false;
    if (u->n == UNPACK_MAX_FILES)
        return err_message(err, ERR_TOO_LARGE, "upload", MESSAGE_IMPORT_FILES, UNPACK_MAX_FILES);
    if (u->n == u->cap) {
        size_t cap = u->cap ? u->cap * 2 : 256;
        u->file = arena_grow(u->arena, u->file, u->cap * sizeof *u->file, cap * sizeof *u->file);
        u->cap = cap;
    }
    u->file[u->n++] = (struct unpacked_file){.path = arena_str(u->arena, path), .blob = *blob, .size = size};
    u->bytes += size;
    return true;
}

void unpack_check(struct unpacked_file *f, struct str first)
{
    struct media_info info = {0};
    bool picture = media_quick(first, &info) && strcmp(info.kind, "image") == 0;
    f->width = picture ? info.width : 0;
    f->height = picture ? info.height : 0;
}

bool unpack_piece(struct unpacked *u, struct str piece, struct err *err)
{
    return blob_batch_piece(u->batch, piece, err);
}

void unpack_drop(struct unpacked *u)
{
    blob_batch_drop(u->batch);
}

bool unpack_file(struct unpacked *u, struct str path, struct err *err)
{
    struct unpacked_file f = {0};
    unpack_check(&f, blob_batch_head(u->batch));
    if (!blob_batch_end(u->batch, &f.blob, &f.size, err) || !unpack_add(u, path, &f.blob, f.size, err))
        return false;
    u->file[u->n - 1].width = f.width;
    u->file[u->n - 1].height = f.height;
    return true;
}

/* --- names --- */

void unpack_left_out(struct task *t, struct str file, const char *position, const struct err *why)
{
    struct err line;
    err_because(&line, why->code, NULL, why, MESSAGE_LEFT_OUT);
    task_note_err(t, file, position, &line);
}

/* The entry's name as a safe relative path, or the reason why there is none. */
static bool safe_name(struct arena *a, struct archive_entry *e, struct str *ret, struct err *why)
{
    const char *raw = archive_entry_pathname(e);
    struct str name = str_of(raw ? raw : archive_entry_pathname_utf8(e));
    if (!name.n)
        return err_message(why, ERR_INVALID, NULL, MESSAGE_NO_NAME);
    if (!utf8_valid(name) && !charset_to_utf8(a, "GB18030", name, &name))
        return err_message(why, ERR_INVALID, NULL, MESSAGE_NAME_CHARSET);
    char *p = arena_strz(a, name);
    for (char *c = p; *c; c++)
        if (*c == '\\')
            *c = '/';
    while (strncmp(p, "./", 2) == 0)
        p += 2;
    *ret = str_of(p);
    return manifest_check_path(*ret, why) || err_message(why, ERR_INVALID, NULL, MESSAGE_NAME_UNSAFE);
}

/* --- reading the archive from a blob --- */

struct input {
    int fd;
    char *block;
};

static la_ssize_t input_read(struct archive *ar, void *ctx, const void **ret)
{
    (void)ar;
    struct input *in = ctx;
    *ret = in->block;
    return read(in->fd, in->block, BLOCK);
}

static la_int64_t input_seek(struct archive *ar, void *ctx, la_int64_t offset, int whence)
{
    (void)ar;
    struct input *in = ctx;
    off_t at = lseek(in->fd, offset, whence);
    return at < 0 ? ARCHIVE_FATAL : at;
}

/* In libarchive's words, which are English. */
static bool archive_says(struct archive *ar, struct err *why)
{
    return err_set(why, ERR_INVALID, "upload", "%s", archive_error_string(ar));
}

static bool unreadable(struct str name, const struct err *why, struct err *err)
{
    return err_because(err, ERR_INVALID, "upload", why, MESSAGE_ARCHIVE_UNREADABLE, STR_ARG(name));
}

static struct archive *archive_of(struct input *in, struct str name, struct err *err)
{
    struct archive *ar = archive_read_new();
    archive_read_support_filter_gzip(ar);
    archive_read_support_filter_bzip2(ar);
    archive_read_support_filter_xz(ar);
    archive_read_support_filter_zstd(ar);
    archive_read_support_filter_lz4(ar);
    archive_read_support_format_zip(ar);
    archive_read_support_format_tar(ar);
    archive_read_support_format_rar(ar);
    archive_read_support_format_rar5(ar);
    archive_read_support_format_7zip(ar);
    archive_read_set_read_callback(ar, input_read);
    archive_read_set_seek_callback(ar, input_seek);
    archive_read_set_callback_data(ar, in);
    if (archive_read_open1(ar) == ARCHIVE_OK)
        return ar;
    struct err why;
    archive_says(ar, &why);
    unreadable(name, &why, err);
    archive_read_free(ar);
    return NULL;
}

/* --- unpacking --- */

struct unpacking {
    struct task *task;
    struct unpacked *out;
    struct str name; /* of the archive */
    struct archive *archive;
    int fd;       /* its bytes */
    int64_t size; /* of the archive */
    size_t found; /* entries so far */
};

static bool no_bomb(const struct unpacking *u, int64_t bytes, struct err *err)
{
    bool ratio = bytes > UNPACK_FREE_BYTES && bytes / UNPACK_MAX_RATIO > u->size;
    if (!ratio && bytes <= UNPACK_MAX_BYTES)
        return true;
    return err_message(err, ERR_TOO_LARGE, "upload", MESSAGE_ARCHIVE_BOMB, (long long)u->size,
                       (long long)bytes);
}

/* Also asks whether the import was cancelled: one file may be most of the archive. */
static bool keep_progress(struct unpacking *u, struct err *err)
{
    return task_progress(u->task, lseek(u->fd, 0, SEEK_CUR) / 2, u->size, err);
}

/* The file's next bytes, of which there are *size so far. */
static bool take_piece(struct unpacking *u, struct str piece, int64_t *size, struct err *err)
{
    *size += (int64_t)piece.n;
    if (u->out->limit >= 0 && *size > u->out->limit)
        return err_message(err, ERR_QUOTA, "storage", MESSAGE_IMPORT_QUOTA_FILE, (long long)u->out->limit);
    return no_bomb(u, u->out->bytes + *size, err) && unpack_piece(u->out, piece, err) &&
           keep_progress(u, err);
}

/* A tar leaves out what is zero in sparse files. */
static bool take_hole(struct unpacking *u, int64_t upto, int64_t *size, struct err *err)
{
    static const char zeros[64 << 10];
    if (upto > *size && !no_bomb(u, u->out->bytes + upto, err))
        return false;
    while (*size < upto) {
        size_t n = upto - *size < (int64_t)sizeof zeros ? (size_t)(upto - *size) : sizeof zeros;
        if (!take_piece(u, (struct str){zeros, n}, size, err))
            return false;
    }
    return true;
}

static int64_t whole_size(struct unpacking *u, struct archive_entry *e)
{
    bool tar = (archive_format(u->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
    return tar && archive_entry_size_is_set(e) ? archive_entry_size(e) : 0;
}

static bool right_size(struct archive_entry *e, int64_t size, struct err *why)
{
    return !archive_entry_size_is_set(e) || archive_entry_size(e) == size ||
           err_message(why, ERR_INVALID, NULL, MESSAGE_ARCHIVE_SIZE, (long long)size,
                       (long long)archive_entry_size(e));
}

/* What is wrong with the entry: left out for `damage`, taken in spite of `doubt`. */
struct flaws {
    struct err damage, doubt;
};

static bool copy_entry(struct unpacking *u, struct archive_entry *e, int64_t *size, struct flaws *f,
                       struct err *err)
{
    for (;;) {
        const void *p = NULL;
        size_t n = 0;
        la_int64_t offset = 0;
        int rc = archive_read_data_block(u->archive, &p, &n, &offset);
        if (rc == ARCHIVE_EOF && !take_hole(u, whole_size(u, e), size, err))
            return false;
        if (rc == ARCHIVE_EOF) {
            right_size(e, *size, &f->damage);
            return true;
        }
        if (rc < ARCHIVE_WARN) {
            archive_says(u->archive, &f->damage);
            return true;
        }
        if (rc == ARCHIVE_WARN)
            archive_says(u->archive, &f->doubt);
        if (!take_hole(u, offset, size, err) || !take_piece(u, (struct str){p, n}, size, err))
            return false;
    }
}

static bool take_file(struct unpacking *u, struct archive_entry *e, struct str path, struct err *err)
{
    int64_t size = 0;
    struct flaws f = {0};
    if (!copy_entry(u, e, &size, &f, err) || f.damage.code) {
        unpack_drop(u->out);
        if (!f.damage.code)
            return false;
        err_because(&f.damage, ERR_INVALID, NULL, &f.damage, MESSAGE_ARCHIVE_DAMAGED);
        task_note_err(u->task, path, NULL, &f.damage);
        return true;
    }
    if (f.doubt.code) {
        err_because(&f.doubt, ERR_INVALID, NULL, &f.doubt, MESSAGE_ARCHIVE_DOUBT);
        task_note_err(u->task, path, NULL, &f.doubt);
    }
    return unpack_file(u->out, path, err);
}

static bool take_entry(struct unpacking *u, struct archive_entry *e, struct err *err)
{
    struct str path = STR("");
    if (archive_entry_filetype(e) == AE_IFDIR)
        return true;
    struct err why = {0};
    const char *raw = archive_entry_pathname(e);
    if (safe_name(u->task->arena, e, &path, &why)) {
        if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e))
            err_message(&why, ERR_INVALID, NULL, MESSAGE_LINK_OR_DEVICE);
        else if (archive_entry_is_data_encrypted(e))
            err_message(&why, ERR_INVALID, NULL, MESSAGE_ENCRYPTED);
    }
    if (why.code) {
        unpack_left_out(u->task, str_of(raw ? raw : "?"), NULL, &why);
        return true;
    }
    if (str_starts(path, "__MACOSX/") || str_ends(path, "/.DS_Store") || str_is(path, ".DS_Store"))
        return true;
    return take_file(u, e, path, err);
}

static bool unpack_archive(struct unpacking *u, struct err *err)
{
    for (;;) {
        struct archive_entry *e;
        int rc = archive_read_next_header(u->archive, &e);
        if (rc == ARCHIVE_EOF)
            return true;
        if (rc < ARCHIVE_WARN) {
            struct err why;
            archive_says(u->archive, &why);
            if (!u->found)
                return unreadable(u->name, &why, err);
            err_because(&why, ERR_INVALID, NULL, &why, MESSAGE_ARCHIVE_ENDS);
            task_note_err(u->task, u->name, NULL, &why);
            return true;
        }
        u->found++;
        if (!take_entry(u, e, err) || !unpack_keep(u->task, u->out, err) || !keep_progress(u, err))
            return false;
    }
}

static bool is_archive(struct str name)
{
    static const char *const endings[] = {".zip",    ".tar", ".tgz",     ".tar.gz", ".tar.zst", ".tzst",
                                          ".tar.xz", ".txz", ".tar.bz2", ".rar",    ".7z"};
    char lower[16] = {0};
    size_t n = name.n < 15 ? name.n : 15;
    for (size_t i = 0; i < n; i++) {
        char c = name.p[name.n - n + i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    for (size_t i = 0; i < countof(endings); i++)
        if (str_ends((struct str){lower, n}, endings[i]))
            return true;
    return false;
}

bool unpack(struct task *t, struct str name, const struct digest *blob, struct unpacked *out, struct err *err)
{
    struct unpacking u = {.task = t, .out = out, .name = name};
    auto_fd int fd = blob_open(t->core->store, blob, &u.size, err);
    if (fd < 0)
        return false;
    if (!is_archive(name)) {
        if (!manifest_check_path(name, err))
            return false;
        return unpack_add(out, name, blob, u.size, err);
    }
    struct err why;
    if (!rar_check(fd, &why))
        return unreadable(name, &why, err);
    struct input in = {fd, base_alloc(BLOCK)};
    u.fd = fd;
    u.archive = archive_of(&in, name, err);
    bool ok = u.archive && unpack_archive(&u, err);
    if (u.archive)
        archive_read_free(u.archive);
    free(in.block);
    return ok;
}
