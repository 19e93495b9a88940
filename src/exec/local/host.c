/* The image `host`: this machine's /usr under a root folder of its own, with the few files of /etc that
 * programs need to run and that are readable for all users. Nothing of the machine's accounts, keys, or data.
 */
#include "exec/local/own.h"

#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define VERSION   4
#define MAX_BYTES (4 << 20) /* of one file */

static const char *const entries[] = {"alternatives",   "bash.bashrc",   "ca-certificates.conf",
                                      "debian_version", "fonts",         "gai.conf",
                                      "host.conf",      "inputrc",       "ld.so.cache",
                                      "ld.so.conf",     "ld.so.conf.d",  "locale.alias",
                                      "localtime",      "magic",         "magic.mime",
                                      "mime.types",     "nsswitch.conf", "os-release",
                                      "profile",        "protocols",     "python3",
                                      "python3.11",     "python3.12",    "python3.13",
                                      "services",       "ssl/certs",     "ssl/openssl.cnf",
                                      "terminfo",       "timezone",      "OpenCL"};

static const struct {
    const char *path;
    mode_t mode;
} dirs[] = {{"etc", 0755},       {"etc/ssl", 0755},  {"usr", 0755},
            {"proc", 0755},      {"sys", 0755},      {"dev", 0755},
            {"tmp", 01777},      {"run", 0755},      {"run/lock", 01777},
            {"var", 0755},       {"var/tmp", 01777}, {"var/log", 0755},
            {"var/cache", 0755}, {"var/lib", 0755},  {"home", 0755},
            {"root", 0700},      {"opt", 0755},      {"opt/ingot-client", 0755},
            {"mnt", 0755},       {"srv", 0755},      {"workspace", 0755}};

static const struct {
    const char *path, *text;
} files[] = {
    {"etc/passwd",
     "root:x:0:0:root:/root:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
     "user:x:1000:1000::/home/user:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"},
    /* No passwords, and no account that sshd would call locked. */
    {"etc/shadow", "root:*:19000:0:99999:7:::\nsshd:!:19000:0:99999:7:::\nuser:*:19000:0:99999:7:::\n"
                   "nobody:*:19000:0:99999:7:::\n"},
    {"etc/group", "root:x:0:\ntty:x:5:\nutmp:x:43:\nuser:x:1000:\nnogroup:x:65534:\n"},
    {"etc/shells", "/bin/sh\n/bin/bash\n"},
    /* What is mounted on these is each container's own; without them crun would write to its disk. */
    {"etc/hosts", ""},
    {"etc/resolv.conf", ""},
    {"etc/hostname", ""},
};

static bool copy_file(int from, int to, const char *name, const struct stat *st, struct err *err)
{
    if (!(st->st_mode & S_IROTH) || st->st_size > MAX_BYTES)
        return true; /* not readable for all users, or not what is meant here */
    auto_fd int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    auto_fd int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 0755);
    if (in < 0 || out < 0)
        return err_errno(err, errno, "cannot copy %s", name);
    auto_free char *p = base_alloc((size_t)st->st_size + 1);
    ssize_t n = read(in, p, (size_t)st->st_size);
    if (n < 0)
        return err_errno(err, errno, "cannot read %s", name);
    return fs_write_all(out, p, (size_t)n, err);
}

static bool copy_link(int from, int to, const char *name, struct err *err)
{
    char target[4096];
    ssize_t n = readlinkat(from, name, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    if (n < 0 || symlinkat(target, to, name) != 0)
        return err_errno(err, errno, "cannot copy the link %s", name);
    return true;
}

static bool copy_entry(int from, int to, const char *name, int depth, struct err *err);

static bool copy_dir(int from, int to, const char *name, int depth, struct err *err)
{
    if (mkdirat(to, name, 0755) != 0 && errno != EEXIST)
        return err_errno(err, errno, "cannot make %s", name);
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    auto_fd int out = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *d = in < 0 ? NULL : fdopendir(in);
    if (!d || out < 0)
        return err_errno(err, errno, "cannot open %s", name);
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = copy_entry(dirfd(d), out, e->d_name, depth + 1, err);
    }
    closedir(d);
    return ok;
}

static bool copy_entry(int from, int to, const char *name, int depth, struct err *err)
{
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || err_errno(err, errno, "cannot look at %s", name);
    if (S_ISLNK(st.st_mode))
        return copy_link(from, to, name, err);
    if (S_ISDIR(st.st_mode) && depth < 6 && (st.st_mode & S_IROTH))
        return copy_dir(from, to, name, depth, err);
    return !S_ISREG(st.st_mode) || copy_file(from, to, name, &st, err);
}

static bool fill(int to, struct err *err)
{
    static const char *const links[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};
    for (size_t i = 0; i < countof(dirs); i++) {
        if (mkdirat(to, dirs[i].path, 0755) != 0 || fchmodat(to, dirs[i].path, dirs[i].mode, 0) != 0)
            return err_errno(err, errno, "cannot make %s", dirs[i].path);
    }
    for (size_t i = 0; i < countof(links); i++) {
        char path[16], target[32];
        snprintf(path, sizeof path, "/%s", links[i]);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0)
            continue; /* absent, or of a machine whose /bin is no part of /usr */
        target[n] = 0;
        if (symlinkat(target, to, links[i]) != 0)
            return err_errno(err, errno, "cannot make %s", links[i]);
    }
    for (size_t i = 0; i < countof(files); i++) {
        auto_fd int fd = openat(to, files[i].path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0)
            return err_errno(err, errno, "cannot make %s", files[i].path);
        if (!fs_write_all(fd, files[i].text, strlen(files[i].text), err))
            return false;
    }
    return true;
}

static bool fill_etc(int to, struct err *err)
{
    for (size_t i = 0; i < countof(entries); i++) {
        const char *slash = strchr(entries[i], '/');
        const char *parent = slash ? "/etc/ssl" : "/etc";
        auto_fd int from = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        auto_fd int into = openat(to, parent + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (into < 0)
            return err_errno(err, errno, "cannot open %s", parent);
        if (from >= 0 && !copy_entry(from, into, slash ? slash + 1 : entries[i], 0, err))
            return false;
    }
    return true;
}

/* Of the machine now: another one once a package, a link of alternatives or a certificate comes or goes. */
static uint64_t state_of_machine(void)
{
    uint64_t key = 0xcbf29ce484222325;
    for (size_t i = 0; i <= countof(entries); i++) {
        char path[64] = "/var/lib/dpkg/status";
        struct stat st;
        if (i < countof(entries))
            snprintf(path, sizeof path, "/etc/%s", entries[i]);
        if (stat(path, &st) != 0)
            st = (struct stat){0};
        const uint64_t parts[] = {st.st_ino,
                                  (uint64_t)st.st_size,
                                  (uint64_t)st.st_mtim.tv_sec,
                                  (uint64_t)st.st_mtim.tv_nsec,
                                  (uint64_t)st.st_ctim.tv_sec,
                                  (uint64_t)st.st_ctim.tv_nsec};
        for (size_t k = 0; k < countof(parts); k++)
            key = (key ^ parts[k]) * 0x100000001b3;
    }
    return key;
}

static bool is_used(struct local *l, const char *name)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(l->containers, &i, &key, &value);) {
        const struct container *c = value;
        if (c->status.state != EXEC_EXITED && strcmp(c->host, name) == 0)
            return true;
    }
    return false;
}

/* Former states of the machine; running containers stay with theirs. */
static void drop_others(struct local *l)
{
    DIR *d = opendir(l->dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, HOST_PREFIX, strlen(HOST_PREFIX)) == 0 && strcmp(e->d_name, l->host) != 0 &&
            !is_used(l, e->d_name))
            fs_remove_tree(l->dir_fd, e->d_name, NULL);
    }
    if (d)
        closedir(d);
}

static bool build(struct local *l, const char *name, struct err *err)
{
    if (!fs_remove_tree(l->dir_fd, ".host.new", err))
        return false;
    if (mkdirat(l->dir_fd, ".host.new", 0755) != 0)
        return err_errno(err, errno, "cannot make a folder for the image host");
    auto_fd int to = openat(l->dir_fd, ".host.new", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to < 0 || fchmod(to, 0755) != 0)
        return err_errno(err, errno, "cannot open the folder of the image host");
    if (!fill(to, err) || !fill_etc(to, err))
        return false;
    if (renameat(l->dir_fd, ".host.new", l->dir_fd, name) != 0)
        return err_errno(err, errno, "cannot keep the image host");
    return true;
}

bool host_follow(struct local *l, struct err *err)
{
    char name[sizeof l->host];
    /* Before the copy: what changes during it makes another one for the next container. */
    snprintf(name, sizeof name, HOST_PREFIX "%d-%llx", VERSION, (unsigned long long)state_of_machine());
    if (strcmp(name, l->host) == 0)
        return true;
    if (faccessat(l->dir_fd, name, F_OK, 0) != 0 && !build(l, name, err))
        return false;
    strcpy(l->host, name);
    drop_others(l);
    return true;
}
