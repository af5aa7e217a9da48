/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"

#include <dirent.h>
#include <errno.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * What every sandbox has: the installed system, read-only; /proc and /dev of its own; nothing of
 * anybody's home, and nothing of what runs. Whatever is not named here is absent.
 */

/* Shared memory is used in earnest by browsers and by workers that exchange frames. */
#define SHM_SIZE (G_GUINT64_CONSTANT (256) * 1024 * 1024)
#define SYSTEM_REASON N_("the installed system")

/* A directory of the system, if it is there. */
static void
add_system_directory (SbxBwrapBuilder *self,
                      const char      *path)
{
  SbxBwrapMount *mount;
  struct stat st;

  if (lstat (path, &st) < 0 || !S_ISDIR (st.st_mode))
    return;

  mount = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_BASE, path, path,
                                  SYSTEM_REASON);
  mount->device = st.st_dev;
  mount->inode = st.st_ino;
  mount->is_directory = TRUE;
}

static gboolean
is_empty (const char *path)
{
  DIR *dir = opendir (path);
  const struct dirent *entry;
  gboolean empty = TRUE;

  if (dir == NULL)
    return TRUE;

  while (empty && (entry = readdir (dir)) != NULL)
    empty = strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0;

  closedir (dir);
  return empty;
}

static void
add_system (SbxBwrapBuilder *self)
{
  static const char * const links[] = {
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec",
  };
  static const char * const states[] = {
    "/var/lib/aspell", "/var/lib/dictionaries-common", "/var/lib/dpkg", "/var/lib/gems",
    "/var/lib/ghc", "/var/lib/ocaml", "/var/lib/sgml-base", "/var/lib/texmf", "/var/lib/xml-core",
    "/var/cache/fontconfig",
  };
  gsize i;

  add_system_directory (self, "/usr");
  add_system_directory (self, "/nix/store");
  if (!is_empty ("/opt"))
    add_system_directory (self, "/opt");

  /* Where the system is merged into /usr these are links, and stay so. */
  for (i = 0; i < G_N_ELEMENTS (links); i++)
    {
      char target[256];
      const ssize_t n = readlink (links[i], target, sizeof target - 1);

      if (n > 0)
        {
          target[n] = '\0';
          _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_SYMLINK, SBX_BWRAP_ORIGIN_BASE, links[i],
                                  target, SYSTEM_REASON);
        }
      else
        add_system_directory (self, links[i]);
    }

  for (i = 0; i < G_N_ELEMENTS (states); i++)
    if (!is_empty (states[i]))
      add_system_directory (self, states[i]);
}

static void
add_proc_mask (SbxBwrapBuilder   *self,
               SbxBwrapMountKind  kind,
               const char        *path,
               const char        *reason)
{
  if (access (path, F_OK) == 0)
    _sbx_bwrap_builder_add (self, kind, SBX_BWRAP_ORIGIN_BASE, path,
                            kind == SBX_BWRAP_MOUNT_RO_BIND ? path : NULL, reason);
}

/* Root's /proc, which root has without any capability too: what is not for everybody is hidden, and
 * what takes commands from root is read-only. Each kernel has others. */
static void
add_proc_of_root (SbxBwrapBuilder *self)
{
  static const char * const commanded[] = {
    "/proc/acpi", "/proc/asound", "/proc/driver", "/proc/dynamic_debug", "/proc/fs", "/proc/scsi",
  };
  DIR *dir = opendir ("/proc");
  const struct dirent *entry;
  gsize i;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      g_autofree char *path = g_strconcat ("/proc/", entry->d_name, NULL);
      struct stat st;

      /* There are many directories, of processes. */
      if (entry->d_type == DT_DIR || entry->d_type == DT_LNK ||
          strcmp (entry->d_name, "keys") == 0 || strcmp (entry->d_name, "sysrq-trigger") == 0 ||
          lstat (path, &st) < 0 || !S_ISREG (st.st_mode))
        continue;

      if ((st.st_mode & S_IROTH) == 0)
        add_proc_mask (self, SBX_BWRAP_MOUNT_MASK, path, N_("memory of the kernel"));
      else if ((st.st_mode & S_IWUSR) != 0)
        add_proc_mask (self, SBX_BWRAP_MOUNT_RO_BIND, path, N_("settings of the kernel"));
    }

  if (dir != NULL)
    closedir (dir);

  for (i = 0; i < G_N_ELEMENTS (commanded); i++)
    if (!is_empty (commanded[i]))
      add_proc_mask (self, SBX_BWRAP_MOUNT_RO_BIND, commanded[i], N_("settings of the kernel"));
}

static void
add_proc (SbxBwrapBuilder *self)
{
  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_PROC, SBX_BWRAP_ORIGIN_BASE, "/proc", NULL,
                          N_("the sandbox's own processes"));

  /* A write there is a command to the kernel. The file system checks the owner, not
   * capabilities. */
  if (SBX_PROTECTS (T1))
    {
      add_proc_mask (self, SBX_BWRAP_MOUNT_RO_BIND, "/proc/sys", N_("settings of the kernel"));
      add_proc_mask (self, SBX_BWRAP_MOUNT_RO_BIND, "/proc/sysrq-trigger",
                     N_("settings of the kernel"));
    }

  /* Whoever goes first when memory runs out could take that back there. It holds for T1 as well. */
  if (SBX_PROTECTS (T6) && SBX_PROTECTS (T1))
    _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_REMOUNT_RO, SBX_BWRAP_ORIGIN_BASE, "/proc", NULL,
                            N_("nothing is set there"));

  if (!SBX_PROTECTS (T29))
    return;

  /* Keys belong to no namespace, and their names tell what the user is logged in to. */
  add_proc_mask (self, SBX_BWRAP_MOUNT_MASK, "/proc/keys", N_("names of the user's keys"));

  if (geteuid () == 0)
    add_proc_of_root (self);
}

static void
add_dev (SbxBwrapBuilder *self)
{
  SbxBwrapMount *shm;

  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_DEV, SBX_BWRAP_ORIGIN_BASE, "/dev", NULL,
                          N_("the few devices that programs need"));

  /* A file system in memory may take half of it unless told otherwise, and is writable. */
  if (!SBX_PROTECTS (T11))
    return;

  shm = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_TMPFS, SBX_BWRAP_ORIGIN_BASE, "/dev/shm",
                                NULL, N_("shared memory"));
  shm->size = SHM_SIZE;
  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_REMOUNT_RO, SBX_BWRAP_ORIGIN_BASE, "/dev", NULL,
                          N_("nothing is made there"));
  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_REMOUNT_RO, SBX_BWRAP_ORIGIN_BASE, "/", NULL,
                          N_("nothing is made there"));
}

gboolean
_sbx_bwrap_base_add (SbxBwrapBuilder  *self,
                     GError          **error)
{
  struct stat st;

  if (stat ("/usr", &st) < 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, "/usr: %s", g_strerror (errno));
      return FALSE;
    }

  add_system (self);
  add_proc (self);
  add_dev (self);

  if (SBX_PROTECTS (T13))
    _sbx_bwrap_base_add_etc (self);
  else
    add_system_directory (self, "/etc");

  return TRUE;
}
