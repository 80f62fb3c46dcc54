/* Makes the disk below a real server fail on command, as a preloaded library.
 *
 * While the file $JACUZZI_FAULT_FILE exists, calls on files whose path contains
 * $JACUZZI_FAULT_PATH fail: with $JACUZZI_FAULT=sync, fsync and fdatasync with
 * EIO; with $JACUZZI_FAULT=space, every write with ENOSPC.
 *
 * With $JACUZZI_FAULT=power nothing fails, but each such file is copied into the
 * folder $JACUZZI_FAULT_FILE when it has been synced: what a power cut leaves.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Whether the fault in force is this one and concerns the file, whose path it finds. */
static int concerns(const char *kind, int fd, char path[PATH_MAX]) {
    const char *asked = getenv("JACUZZI_FAULT");
    const char *part = getenv("JACUZZI_FAULT_PATH");
    if (!asked || !part || !getenv("JACUZZI_FAULT_FILE") || strcmp(asked, kind) != 0)
        return 0;

    int before = errno;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = before;
    if (length <= 0)
        return 0;
    path[length] = '\0';
    return strstr(path, part) != NULL;
}

static int fails(const char *kind, int fd) {
    char path[PATH_MAX];
    if (!concerns(kind, fd, path))
        return 0;
    int before = errno;
    int armed = access(getenv("JACUZZI_FAULT_FILE"), F_OK) == 0;
    errno = before;
    return armed;
}

static void copy(const char *from, const char *to) {
    static char buffer[1 << 20];
    ssize_t got, put = 0;
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (in >= 0 && out >= 0 && (got = read(in, buffer, sizeof buffer)) > 0)
        if ((put = write(out, buffer, (size_t)got)) != got)
            abort();
    if (in < 0 || out < 0 || close(in) != 0 || close(out) != 0)
        abort();
}

/* One copy at a time, so that a later one is never replaced by an earlier one. */
static void keep_synced(int fd) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    char path[PATH_MAX], whole[2 * PATH_MAX], half[2 * PATH_MAX + 8];
    if (!concerns("power", fd, path))
        return;
    snprintf(whole, sizeof whole, "%s%s", getenv("JACUZZI_FAULT_FILE"), strrchr(path, '/'));
    snprintf(half, sizeof half, "%s.half", whole);
    pthread_mutex_lock(&turn);
    copy(path, half);
    if (rename(half, whole) != 0)
        abort();
    pthread_mutex_unlock(&turn);
}

/* Defines a call that fails on command, and is the real one otherwise. */
#define BREAKABLE(result, name, kind, error, parameters, ...) \
    result name parameters {                                  \
        static result(*real) parameters;                      \
        if (fails(kind, fd)) {                                \
            errno = error;                                    \
            return -1;                                        \
        }                                                     \
        if (!real)                                            \
            real = dlsym(RTLD_NEXT, #name);                   \
        result outcome = real(__VA_ARGS__);                   \
        if (outcome == 0 && strcmp(kind, "sync") == 0)        \
            keep_synced(fd);                                  \
        return outcome;                                       \
    }

BREAKABLE(int, fsync, "sync", EIO, (int fd), fd)
BREAKABLE(int, fdatasync, "sync", EIO, (int fd), fd)
BREAKABLE(ssize_t, write, "space", ENOSPC, (int fd, const void *from, size_t count), fd, from, count)
BREAKABLE(ssize_t, writev, "space", ENOSPC, (int fd, const struct iovec *from, int count), fd, from, count)
BREAKABLE(ssize_t, pwrite, "space", ENOSPC, (int fd, const void *from, size_t count, off_t at), fd, from, count, at)
BREAKABLE(ssize_t, pwrite64, "space", ENOSPC, (int fd, const void *from, size_t count, off64_t at), fd, from, count, at)
