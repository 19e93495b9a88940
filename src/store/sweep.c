/* Files and objects that no row knows. A row is written before its file and removed before it, so such a file
 * is what a crash left, or about to go anyway; restored backups place their files first, therefore young
 * files stay. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "store/bucket.h"
#include "store/store_own.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define SHARE 16 /* of the 256 folders, once all were looked at */

struct found {
    struct arena arena;
    struct digest *item;
    size_t n, cap;
};

static bool found_add(void *ctx, const struct digest *d, struct err *err)
{
    (void)err;
    struct found *f = ctx;
    if (f->n == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 256;
        f->item = arena_grow(&f->arena, f->item, f->cap * sizeof *f->item, cap * sizeof *f->item);
        f->cap = cap;
    }
    f->item[f->n++] = *d;
    return true;
}

static bool find_files(struct store *s, uint8_t first, struct found *f, struct err *err)
{
    char folder[3];
    hex_encode(&first, 1, folder);
    int fd = openat(s->blobs_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot read a folder of blobs");
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return err_errno(err, errno, "cannot read a folder of blobs");
    }
    struct dirent *e;
    struct stat st;
    struct digest d;
    int64_t before = (clock_now() - s->grace_us) / 1000000;
    while ((e = readdir(dir)))
        if (digest_parse(str_of(e->d_name), &d) && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_ctim.tv_sec <= before)
            found_add(f, &d, err);
    closedir(dir);
    return true;
}

static bool read_known(struct store *s, struct arena *a, uint8_t first, struct map *known, struct err *err)
{
    struct digest from = {{first}}, to = {{first}};
    struct db_rows rows;
    memset(to.b + 1, 0xff, sizeof to.b - 1);
    if (!db_query(s->db, a, "SELECT digest FROM blobs WHERE digest >= ? AND digest <= ?",
                  db_args(digest_arg(&from), digest_arg(&to)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        map_set(known, rows.row[i].v[0].s, known);
    return true;
}

static bool sweep_one(struct store *s, uint8_t first, int64_t *removed, struct err *err)
{
    struct found f = {0};
    arena_init(&f.arena);
    struct map *known = map_new();
    bool ok = find_files(s, first, &f, err) && (!s->bucket || bucket_each(s, first, found_add, &f, err));
    ok = ok && (f.n == 0 || read_known(s, &f.arena, first, known, err));
    for (size_t i = 0, n = ok ? f.n : 0; i < n; i++) {
        struct err one = {0};
        if (map_get(known, (struct str){(const char *)f.item[i].b, sizeof f.item[i].b}))
            continue;
        if (blob_remove(s, &f.item[i], &one))
            ++*removed;
        else
            ok = err_keep(err, &one);
    }
    map_free(known);
    arena_release(&f.arena);
    return ok;
}

bool blob_sweep(struct store *s, int64_t *removed, struct err *err)
{
    bool ok = true;
    unsigned i = 0;
    for (unsigned n = s->swept ? SHARE : 256; i < n && !collect_stands(s); i++) {
        struct err one = {0};
        if (!sweep_one(s, (uint8_t)s->sweep_next, removed, &one))
            ok = err_keep(err, &one);
        s->sweep_next = (s->sweep_next + 1) % 256;
    }
    s->swept = s->swept || i == 256;
    return ok;
}
