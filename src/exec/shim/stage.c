#include "exec/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/local/cgroup.h"
#include "exec/shim/calls.h"

static uint32_t uid_base;
static int userns = -1;

/* What the stage was made of, for the next container. */
static struct {
    char image[8192]; /* "" when no other container may use it */
    struct stat upper, usr;
    bool kept; /* and no container has used it since */
} made;

bool stage_isolate(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return fail_errno("cannot make a mount namespace");
    return true;
}

/* All of the plan that two containers on one stage have in common, as one text. */
static bool describe_image(const struct plan *p, char ret[sizeof made.image])
{
    static const char *const keys[] = {"stage", "uid_base", "host", "layer", "programs"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        for (const char *v = NULL; (v = plan_next(p, keys[i], v));) {
            n += (size_t)snprintf(ret + n, sizeof made.image - n, "%s %s\n", keys[i], v);
            if (n >= sizeof made.image)
                return false;
        }
    }
    return true;
}

static bool is_old(const struct plan *p)
{
    char image[sizeof made.image];
    return made.kept && describe_image(p, image) && strcmp(image, made.image) == 0;
}

bool stage_begin(const struct plan *p)
{
    if (is_old(p))
        return true;
    if (made.kept && (!stage_clear(p) || !disk_clear()))
        return fail_errno("cannot clear the stage of the former container");
    made.kept = false;
    uid_base = (uint32_t)plan_int(p, "uid_base");
    /* crun refuses a machine with both versions of cgroups, and makes its folders where the second one was.
     */
    static bool hidden;
    if (!hidden && cgroup_is_hybrid() && mount("none", "/sys/fs/cgroup/unified", "tmpfs", 0, "size=1m") != 0)
        return fail_errno("cannot hide the second cgroup version");
    hidden = true;
    disk_begin(p);
    const char *stage = plan_get(p, "stage");
    if (mount("stage", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=256m") != 0 || chdir(stage) != 0)
        return fail_errno("cannot prepare %s", stage);
    umask(0);
    return !fail_reason[0] && (mkdir("ns", 0755) == 0 || fail_errno("cannot make the stage"));
}

/* The tree at source appears at target, its owner 0 as the container's own root. */
static bool bring(const char *source, const char *target, bool read_only)
{
    int tree = open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return fail_errno("cannot open %s", source);
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    if (read_only)
        attr.attr_set |= MOUNT_ATTR_RDONLY;
    if (uid_base > 0) {
        attr.attr_set |= MOUNT_ATTR_IDMAP;
        attr.userns_fd = (uint64_t)userns;
    }
    struct stat st;
    bool ok = true;
    if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) != 0)
        ok = fail_errno("cannot map the owners of %s", source);
    else if (fstat(tree, &st) != 0)
        ok = fail_errno("cannot look at %s", source);
    else if (S_ISDIR(st.st_mode) ? mkdir(target, 0755) != 0 : mknod(target, S_IFREG | 0644, 0) != 0)
        ok = fail_errno("cannot make %s", target);
    else if (move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) != 0)
        ok = fail_errno("cannot mount %s", source);
    close(tree);
    return ok;
}

static bool mount_changes(const struct plan *p)
{
    static const char *const dirs[] = {"disk/c", "disk/c/upper", "disk/c/work", "disk/c/usr",
                                       "disk/c/usrwork"};
    if (!disk_mount(p))
        return false;
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        if (mkdir(dirs[i], 0755) != 0 && errno != EEXIST)
            return fail_errno("cannot make %s", dirs[i]);
    }
    return bring("disk/c", "changes", false);
}

/* The kernel makes the copies as the user that mounts it, which must be one that the image layers' owners map
 * to. */
static bool overlay(const char *lower, const char *upper, const char *work, const char *target)
{
    char options[4096];
    int n = snprintf(options, sizeof options, "lowerdir=%s,upperdir=changes/%s,workdir=changes/%s", lower,
                     upper, work);
    if (n >= (int)sizeof options)
        return fail("the image has too many layers");
    prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
    setfsuid(uid_base);
    setfsgid(uid_base);
    int failed = mount("overlay", target, "overlay", MS_NODEV, options) != 0 ? errno : 0;
    setfsuid(0);
    setfsgid(0);
    errno = failed;
    return failed == 0 || fail_errno("cannot mount the image on %s", target);
}

/* The machine's /usr below what image layers above the image host have of it. */
static bool mount_usr(int layers)
{
    char lower[2048] = "";
    struct stat st;
    for (int i = layers - 1; i > 0; i--) { /* l0 is the root folder of host */
        char path[32];
        size_t n = strlen(lower);
        snprintf(path, sizeof path, "l%d/usr", i);
        if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        if (snprintf(lower + n, sizeof lower - n, "%s:", path) >= (int)(sizeof lower - n))
            return fail("the image has too many layers");
    }
    if (strlen(lower) + sizeof "usr" > sizeof lower)
        return fail("the image has too many layers");
    strcat(lower, "usr");
    return overlay(lower, "usr", "usrwork", "rootfs/usr");
}

static bool mount_root(const struct plan *p)
{
    char lower[2048] = "";
    int count = 0;
    for (const char *v = NULL; (v = plan_next(p, "layer", v)); count++) {
        char name[16], longer[2048];
        snprintf(name, sizeof name, "l%d", count);
        if (!bring(v, name, true))
            return false;
        /* overlayfs wants the highest first */
        if (snprintf(longer, sizeof longer, "%s%s%s", name, count ? ":" : "", lower) >= (int)sizeof longer)
            return fail("the image has too many layers");
        strcpy(lower, longer);
    }
    if (mkdir("rootfs", 0755) != 0)
        return fail_errno("cannot make the root folder");
    if (!overlay(lower, "upper", "work", "rootfs"))
        return false;
    if (!*plan_get(p, "host"))
        return true;
    return bring("/usr", "usr", true) && mount_usr(count);
}

static bool stage_write(const char *name, const void *data, size_t n, unsigned mode, uid_t owner)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_all(fd, data, n) && (owner == 0 || fchown(fd, owner, owner) == 0) &&
              fchmod(fd, mode) == 0;
    if (!ok)
        fail_errno("cannot write %s", name);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool copy_in(int fd, const char *name, unsigned mode, uid_t owner)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return fail_errno("cannot open %s", name);
    char *p = malloc((size_t)st.st_size + 1);
    ssize_t n = p ? read(fd, p, (size_t)st.st_size) : -1;
    bool ok =
        n == st.st_size ? stage_write(name, p, (size_t)n, mode, owner) : fail_errno("cannot read %s", name);
    free(p);
    close(fd);
    return ok;
}

/* file = "MODE NAME" (octal): the file files/NAME of the container's folder, which is deleted: it may be a
 * key. */
static bool stage_files(const struct plan *p)
{
    static const char *const texts[] = {"hosts", "resolv", "hostname"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = plan_get(p, texts[i]);
        if (!stage_write(texts[i], text, strlen(text), 0644, uid_base))
            return false;
    }
    if (*plan_get(p, "secrets")) {
        if (!copy_in(openat(job_dir, "secrets", O_RDONLY | O_CLOEXEC), "secrets", 0400, uid_base))
            return false;
        unlinkat(job_dir, "secrets", 0);
    }
    for (const char *v = NULL; (v = plan_next(p, "file", v));) {
        char *name;
        unsigned mode = (unsigned)strtoul(v, &name, 8);
        name++;
        if (!copy_in(openat(job_dir, name, O_RDONLY | O_CLOEXEC), name, mode, uid_base))
            return false;
        unlinkat(job_dir, name, 0);
    }
    const char *config = plan_get(p, "config");
    return stage_write("config.json", config, strlen(config), 0600, 0);
}

/* mount = "ro /source" or "rw /source", the i-th becomes mI of the stage. */
static bool stage_mounts(const struct plan *p)
{
    int i = 0;
    for (const char *v = NULL; (v = plan_next(p, "mount", v)); i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        if (!bring(v + 3, name, v[1] == 'o'))
            return false;
    }
    return true;
}

/* device = "/dev/x": the i-th becomes devices/I, which belongs to the container's root. Devices cannot be
 * made inside of a user namespace, and the machine's own files may be for its root only. */
static bool stage_devices(const struct plan *p)
{
    int i = 0;
    for (const char *v = NULL; (v = plan_next(p, "device", v)); i++) {
        char name[32];
        struct stat st;
        if (i == 0 && (mkdir("devices", 0755) != 0 ||
                       mount("devices", "devices", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1m") != 0))
            return fail_errno("cannot make a folder for devices");
        snprintf(name, sizeof name, "devices/%d", i);
        if (stat(v, &st) != 0)
            return fail_errno("cannot look at %s", v);
        if (mknod(name, (st.st_mode & S_IFMT) | 0600, st.st_rdev) != 0 || chmod(name, 0666) != 0 ||
            chown(name, uid_base, uid_base) != 0)
            return fail_errno("cannot give the device %s", v);
    }
    return true;
}

static bool look_at_changes(struct stat *upper, struct stat *usr)
{
    return stat("changes/upper", upper) == 0 && stat("changes/usr", usr) == 0;
}

/* What is the same for every container of an image. Its program for process 1 belongs to the machine's root:
 * no process inside can change it. */
static bool stage_image(const struct plan *p)
{
    if (!copy_in(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "init", 0755, 0) || !mount_changes(p) ||
        !mount_root(p) || (*plan_get(p, "programs") && !bring(plan_get(p, "programs"), "programs", true)))
        return false;
    if (uid_base == 0 || !describe_image(p, made.image) || !look_at_changes(&made.upper, &made.usr))
        made.image[0] = 0;
    return true;
}

/* An overlay does not see what the machine's /usr gets under it (packages that were installed since): a stage
 * that was kept gets a new one. */
static bool renew_usr(const struct plan *p)
{
    int layers = 0;
    for (const char *v = NULL; (v = plan_next(p, "layer", v));)
        layers++;
    if (!*plan_get(p, "host"))
        return true;
    if (umount2("rootfs/usr", 0) != 0)
        return fail_errno("cannot leave the former container's /usr");
    return mount_usr(layers) &&
           (look_at_changes(&made.upper, &made.usr) || fail_errno("cannot look at /usr"));
}

bool stage_build(const struct plan *p)
{
    if (uid_base > 0 && userns < 0 && (userns = open("ns/user", O_RDONLY | O_CLOEXEC)) < 0)
        return fail_errno("cannot open the user namespace");
    if (!stage_files(p) || !(made.kept ? renew_usr(p) : stage_image(p)))
        return false;
    made.kept = false;
    return stage_mounts(p) && stage_devices(p);
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n == 2; /* . and .. */
}

/* A process that changes anything in a folder or its owner, mode or attributes changes its time too. */
static bool is_untouched(const char *path, const struct stat *then, const struct stat *now)
{
    return then->st_mode == now->st_mode && then->st_uid == now->st_uid && then->st_gid == now->st_gid &&
           then->st_ctim.tv_sec == now->st_ctim.tv_sec && then->st_ctim.tv_nsec == now->st_ctim.tv_nsec &&
           is_empty(path);
}

bool stage_keep(const struct plan *p)
{
    static const char *const own[] = {"hosts", "resolv",   "hostname", "config.json",
                                      "pid",   "crun.log", "state",    "secrets"};
    static const char *const extras[] = {"mount", "device", "file"};
    struct stat upper, usr;
    if (!made.image[0] || !look_at_changes(&upper, &usr) ||
        !is_untouched("changes/upper", &made.upper, &upper) || !is_untouched("changes/usr", &made.usr, &usr))
        return false;
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
        if (plan_next(p, extras[i], NULL))
            return false;
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (!remove_tree(AT_FDCWD, own[i]))
            return false;
    }
    made.kept = true;
    return true;
}

bool stage_clear(const struct plan *p)
{
    return chdir("/") == 0 && umount2(plan_get(p, "stage"), MNT_DETACH) == 0;
}
