/* Bridges, tables of rules, cgroups and the stage of an executor carry its name. A file below /run/ingot says
 * to which folder a name belongs, so that what a killed server left can be taken away once its data is gone.
 * All of this is housekeeping: what fails is left for the next start. */
#include "exec/local/own.h"

#include "base/fs.h"
#include "base/proc.h"
#include "exec/local/cgroup.h"
#include "exec/local/netlink.h"

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLAIMS "/run/ingot"

static bool is_name(const char *s)
{
    size_t n = strlen(s);
    return n >= 1 && n <= 6 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

static void drop_links(const char *name)
{
    struct if_nameindex *links = if_nameindex();
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%.6sb", name);
    for (struct if_nameindex *i = links; i && i->if_name; i++) {
        const char *slot = i->if_name + strlen(prefix);
        if (strncmp(i->if_name, prefix, strlen(prefix)) == 0 && *slot &&
            strspn(slot, "0123456789") == strlen(slot))
            netlink_delete(i->if_name);
    }
    if (links)
        if_freenameindex(links);
}

static void sweep(const char *name)
{
    auto_arena struct arena a;
    arena_init(&a);
    char *argv[] = {"nft", "delete", "table", "inet", (char *)name, NULL};
    int status;
    cgroup_clear(arena_printf(&a, "/%s", name));
    drop_links(name);
    proc_run(&a, argv, 4096, &status, NULL, NULL);
    rmdir(arena_printf(&a, "/run/%s-stage", name));
    unlink(arena_printf(&a, CLAIMS "/%s", name));
}

static bool is_gone(const char *name)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str folder;
    struct err ignored = {0};
    struct stat st;
    return fs_read(&a, arena_printf(&a, CLAIMS "/%s", name), 8192, &folder, &ignored) && folder.n &&
           folder.p[0] == '/' && stat(arena_strz(&a, folder), &st) != 0 && errno == ENOENT;
}

void leftovers_claim(struct local *l)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err ignored = {0};
    if (!fs_mkdirs(CLAIMS, 0755, &ignored))
        return;
    fs_write_atomic(arena_printf(&a, CLAIMS "/%s", l->name), str_of(l->dir), 0600, &ignored);
    DIR *d = opendir(CLAIMS);
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_name(e->d_name) && strcmp(e->d_name, l->name) != 0 && is_gone(e->d_name))
            sweep(e->d_name);
    if (d)
        closedir(d);
}

void leftovers_none(struct local *l)
{
    auto_arena struct arena a;
    arena_init(&a);
    unlink(arena_printf(&a, CLAIMS "/%s", l->name));
}
