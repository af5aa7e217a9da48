/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * /etc by a list of what is good. Root owns files even without a capability, so what must not be
 * read (shadow, private keys, tokens of package managers) is not there at all. Small files are
 * copied, which costs no mount.
 */

#define REASON N_("configuration that programs need")
#define MAX_COPY (4 * 1024 * 1024)
#define MAX_HOSTS (256 * 1024)

/* A mount costs about as much as this many copies. */
#define FEW_FILES 6
#define SMALL_FILE (64 * 1024)

/* Names by a prefix end in "*". */
static const char * const files[] = {
  "DIR_COLORS", "arch-release", "bindresvport.blacklist", "debian_version", "fedora-release",
  "fpc*", "gai.conf", "group", "host.conf", "inputrc", "ld.so.cache", "ld.so.conf", "locale.alias",
  "locale.conf", "locale.gen", "localtime", "lsb-release", "magic", "magic.mime", "mailcap",
  "manpath.config", "mime.types", "netconfig", "networks", "nsswitch.conf", "os-release",
  "papersize", "passwd", "protocols", "redhat-release", "rpc", "services", "shells",
  "system-release", "timezone", "xattr.conf",
};

static const char * const directories[] = {
  "ImageMagick*", "R", "alternatives", "crypto-policies", "fonts", "ghc", "ghostscript", "gnutls",
  "java*", "ld.so.conf.d", "lua", "maven", "mono", "openmpi", "perl", "php", "python*", "sgml",
  "terminfo", "texmf", "xdg", "xml",
};

/* Deeper ones: what is beside them is not for everybody. */
static const char * const deeper_files[] = {
  "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf",
};

static const char * const deeper_directories[] = {
  "/etc/ca-certificates/extracted", "/etc/dpkg/origins", "/etc/pki/ca-trust", "/etc/pki/java",
  "/etc/pki/tls/certs", "/etc/ssl/certs",
};

static gboolean
is_listed (const char         *name,
           const char * const *list,
           gsize               length)
{
  gsize i;

  for (i = 0; i < length; i++)
    {
      const gsize size = strlen (list[i]);

      if (list[i][size - 1] == '*' ? strncmp (name, list[i], size - 1) == 0
                                   : strcmp (name, list[i]) == 0)
        return TRUE;
    }

  return FALSE;
}

/* Where a link leads that stays a link: somewhere that is there inside as well. */
static gboolean
is_inside (const char *path)
{
  return _sbx_bwrap_path_is_below (path, "/usr") || _sbx_bwrap_path_is_below (path, "/nix/store");
}

/* Keeps @path the link it is: the names of time zones, for one, are read out of links. */
static gboolean
add_link (SbxBwrapBuilder *self,
          const char      *path,
          const char      *real_path)
{
  g_autofree char *target = NULL;

  if (strcmp (real_path, path) == 0 || !is_inside (real_path))
    return FALSE;

  target = g_file_read_link (path, NULL);
  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_SYMLINK, SBX_BWRAP_ORIGIN_BASE, path,
                          target != NULL && is_inside (target) ? target : real_path, REASON);
  return TRUE;
}

/* Readable by everybody: root may read more, and hands none of it on. */
static gboolean
is_public (const struct stat *st)
{
  return (st->st_mode & S_IROTH) != 0;
}

static void
add_file (SbxBwrapBuilder *self,
          const char      *path)
{
  g_autofree char *real_path = NULL;
  g_autofree char *fd_path = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH, &real_path, NULL);
  SbxBwrapMount *mount;
  struct stat st;

  if (fd < 0 || fstat (fd, &st) < 0 || add_link (self, path, real_path))
    return;

  if (!S_ISREG (st.st_mode) || !is_public (&st) || st.st_size > MAX_COPY)
    return;

  fd_path = g_strdup_printf ("/proc/self/fd/%d", fd);
  mount = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_FILE, SBX_BWRAP_ORIGIN_BASE, path,
                                  real_path, REASON);
  mount->source_fd = open (fd_path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

  if (mount->source_fd < 0)
    g_ptr_array_remove (self->plan->mounts, mount);
}

/* Whether all that is in the directory are a few small files for everybody, whose names come
 * back. */
static GPtrArray *
list_few_files (int fd)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const struct dirent *entry;
  const int dir_fd = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = dir_fd >= 0 ? fdopendir (dir_fd) : NULL;
  gboolean few = dir != NULL;

  if (dir == NULL && dir_fd >= 0)
    close (dir_fd);

  while (few && (entry = readdir (dir)) != NULL)
    {
      struct stat st;

      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;

      few = names->len < FEW_FILES &&
            fstatat (fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG (st.st_mode) &&
            is_public (&st) && st.st_size <= SMALL_FILE;

      g_ptr_array_add (names, g_strdup (entry->d_name));
    }

  if (dir != NULL)
    closedir (dir);

  return few ? g_steal_pointer (&names) : NULL;
}

static void
add_directory (SbxBwrapBuilder *self,
               const char      *path)
{
  g_autofree char *real_path = NULL;
  g_autoptr(GPtrArray) names = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH | O_DIRECTORY, &real_path, NULL);
  SbxBwrapMount *mount;
  struct stat st;
  guint i;

  if (fd < 0 || fstat (fd, &st) < 0 || add_link (self, path, real_path) || !is_public (&st))
    return;

  names = list_few_files (fd);
  if (names != NULL)
    {
      for (i = 0; i < names->len; i++)
        {
          g_autofree char *file = g_build_filename (path, g_ptr_array_index (names, i), NULL);

          add_file (self, file);
        }

      return;
    }

  mount = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_BASE, path,
                                  real_path, REASON);
  mount->device = st.st_dev;
  mount->inode = st.st_ino;
  mount->is_directory = TRUE;
}

static void
add_content (SbxBwrapBuilder *self,
             const char      *path,
             GString         *content)
{
  SbxBwrapMount *mount = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_FILE, SBX_BWRAP_ORIGIN_BASE,
                                                 path, NULL, N_("the sandbox's name"));

  mount->content = g_string_free_to_bytes (content);
}

/* A host that cannot look up its own name makes many programs wait, or fail. */
static void
add_names (SbxBwrapBuilder *self)
{
  GString *hosts = g_string_new ("127.0.0.1 localhost " SBX_BWRAP_HOSTNAME "\n");
  g_autoptr(GBytes) content = NULL;
  g_autofree char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real ("/etc", O_PATH | O_DIRECTORY, &real_path, NULL);

  if (fd >= 0)
    content = _sbx_read_beneath (fd, "hosts", MAX_HOSTS, self->cancellable, NULL);

  if (content != NULL)
    {
      gsize size;
      const char *data = g_bytes_get_data (content, &size);

      g_string_append_len (hosts, data, size);
    }

  add_content (self, "/etc/hosts", hosts);
  add_content (self, "/etc/hostname", g_string_new (SBX_BWRAP_HOSTNAME "\n"));
}

void
_sbx_bwrap_base_add_etc (SbxBwrapBuilder *self)
{
  const struct dirent *entry;
  DIR *dir = opendir ("/etc");
  gsize i;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      g_autofree char *path = g_strconcat ("/etc/", entry->d_name, NULL);

      if (is_listed (entry->d_name, files, G_N_ELEMENTS (files)))
        add_file (self, path);
      else if (is_listed (entry->d_name, directories, G_N_ELEMENTS (directories)))
        add_directory (self, path);
    }

  if (dir != NULL)
    closedir (dir);

  for (i = 0; i < G_N_ELEMENTS (deeper_files); i++)
    add_file (self, deeper_files[i]);

  for (i = 0; i < G_N_ELEMENTS (deeper_directories); i++)
    add_directory (self, deeper_directories[i]);

  add_names (self);
  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_SYMLINK, SBX_BWRAP_ORIGIN_BASE, "/etc/mtab",
                          "/proc/self/mounts", REASON);
}
