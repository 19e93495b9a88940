/* The container's disk: a file with a file system of its own, or without a limit a folder. */
#include "exec/shim/shim.h"

#include "exec/shim/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define KEEP_BYTES (1 << 20)
#define KEEP_FILES 100
#define FULL_BYTES (512 << 10) /* what is left is for the file system's own tables */

static pid_t mkfs = -1;
static int kept = -1; /* the mounted file system, for the next container */
static struct statfs empty;

/* Only what is not a hole; a fresh file system is nearly all hole. */
static bool copy_sparse(int from, int to, int64_t size)
{
    if (ftruncate(to, size) != 0)
        return false;
    for (off_t at = 0; at < size;) {
        off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0)
            return errno == ENXIO;
        off_t end = lseek(from, data, SEEK_HOLE), into = data;
        while (data < end) {
            ssize_t n = copy_file_range(from, &data, to, &into, (size_t)(end - data), 0);
            if (n <= 0)
                return false;
        }
        at = end;
    }
    return true;
}

/* Beside the containers' folders: an empty file system of each size, made once, as mkfs waits for the disk.
 */
static void template_name(int64_t size, char ret[64])
{
    snprintf(ret, 64, "../.disk-1-%lld", (long long)size);
}

static bool use_template(int disk, int64_t size)
{
    char name[64];
    template_name(size, name);
    int fd = openat(job_dir, name, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && copy_sparse(fd, disk, size);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Without one the next container runs mkfs as this one did. */
static void keep_template(int disk, int64_t size)
{
    char name[64], half[96];
    template_name(size, name);
    snprintf(half, sizeof half, "%s.%d", name, (int)getpid());
    int fd = openat(job_dir, half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bool ok = copy_sparse(disk, fd, size) && fsync(fd) == 0;
    close(fd);
    if (!ok || renameat(job_dir, half, job_dir, name) != 0)
        unlinkat(job_dir, half, 0);
}

void disk_begin(const struct plan *p)
{
    int64_t size = plan_int(p, "disk");
    if (size <= 0 || kept >= 0)
        return;
    int fd = openat(job_dir, "disk.img", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, size) != 0)
        fail_errno("cannot make the container's disk of %lld bytes", (long long)size);
    bool made = fd >= 0 && use_template(fd, size);
    if (fd >= 0)
        close(fd);
    /* Lives as long as the container: no journal, and the tables are written when they are used. */
    char *argv[] = {"mkfs.ext4",
                    "-q",
                    "-F",
                    "-m",
                    "0",
                    "-O",
                    "^has_journal,^resize_inode",
                    "-E",
                    "lazy_itable_init=1,nodiscard,root_owner=0:0",
                    "disk.img",
                    NULL};
    if (!fail_reason[0] && !made)
        mkfs = run_child(argv);
}

static int attach_loop(int image)
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0)
        return -1;
    int loop = -1;
    for (int tries = 0; tries < 64 && loop < 0; tries++) {
        char path[32];
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(path, sizeof path, "/dev/loop%d", number);
        loop = number < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
        struct loop_config c = {.fd = (uint32_t)image, .info.lo_flags = LO_FLAGS_AUTOCLEAR};
        if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &c) != 0) {
            int saved = errno;
            close(loop);
            loop = -1;
            errno = saved;
            if (saved != EBUSY) /* another took it in between */
                break;
        }
    }
    close(control);
    return loop;
}

/* A folder, as there is no limit. */
static bool bind_folder(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d/disk", job_dir);
    if (mkdirat(job_dir, "disk", 0700) != 0 && errno != EEXIST)
        return fail_errno("cannot make the container's folder");
    return mount(path, "disk", NULL, MS_BIND, NULL) == 0 || fail_errno("cannot mount the container's folder");
}

static bool mount_image(const struct plan *p)
{
    char path[64], device[64];
    if (mkfs > 0 && !run_wait(mkfs, "mkfs.ext4"))
        return false;
    int image = openat(job_dir, "disk.img", O_RDWR | O_CLOEXEC);
    if (mkfs > 0 && image >= 0)
        keep_template(image, plan_int(p, "disk"));
    int loop = image < 0 ? -1 : attach_loop(image);
    unlinkat(job_dir, "disk.img", 0); /* its bytes go with the last descriptor or mount of it */
    if (loop < 0)
        return fail_errno("cannot attach the container's disk to a loop device");
    snprintf(path, sizeof path, "/proc/self/fd/%d", loop);
    ssize_t n = readlink(path, device, sizeof device - 1);
    device[n > 0 ? n : 0] = 0;
    bool ok = mount(device, "disk", "ext4", MS_NOSUID | MS_NODEV, NULL) == 0;
    if (!ok)
        fail_errno("cannot mount the container's disk");
    close(image);
    close(loop);
    return ok;
}

bool disk_mount(const struct plan *p)
{
    if (mkdir("disk", 0755) != 0)
        return fail_errno("cannot make a folder for the container's disk");
    if (plan_int(p, "disk") <= 0)
        return bind_folder();
    bool fresh = kept < 0;
    if (fresh && !mount_image(p))
        return false;
    if (!fresh && move_mount(kept, "", AT_FDCWD, "disk", MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return fail_errno("cannot mount the kept disk");
    if (!fresh)
        close(kept);
    kept = open_tree(AT_FDCWD, "disk", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fresh && kept >= 0 && fstatfs(kept, &empty) != 0)
        empty = (struct statfs){0};
    return true;
}

bool disk_full(void)
{
    struct statfs now;
    return kept >= 0 && empty.f_blocks && fstatfs(kept, &now) == 0 &&
           (now.f_ffree == 0 || (int64_t)now.f_bavail * (int64_t)now.f_bsize < FULL_BYTES);
}

bool disk_machine_full(void)
{
    struct statfs now;
    return fstatfs(job_dir, &now) == 0 && (int64_t)now.f_bavail * (int64_t)now.f_bsize < FULL_BYTES;
}

bool disk_clear(void)
{
    struct statfs now;
    /* What was used stays in the image's file: only a disk that is nearly untouched is worth keeping. */
    if (kept < 0 || empty.f_blocks == 0 || fstatfs(kept, &now) != 0 ||
        (int64_t)(empty.f_bfree - now.f_bfree) * (int64_t)now.f_bsize > KEEP_BYTES ||
        (int64_t)(empty.f_ffree - now.f_ffree) > KEEP_FILES)
        return false;
    return renameat(kept, "c", kept, "gone") == 0 && remove_tree(kept, "gone");
}
