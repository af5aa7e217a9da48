/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <errno.h>
#include <sys/stat.h>

#include "bwrap-util.h"
#include "core/sbx-error.h"

static const SbxBwrapMount *
find_mount (SbxBwrapPlan *plan,
            const char   *destination)
{
  guint i;

  for (i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);

      if (strcmp (mount->destination, destination) == 0)
        return mount;
    }

  return NULL;
}

static SbxBwrapMountKind
get_kind (SbxBwrapPlan *plan,
          const char   *destination)
{
  const SbxBwrapMount *mount = find_mount (plan, destination);

  if (mount == NULL)
    g_error ("Nothing is at %s", destination);

  return mount->kind;
}

static void
assert_refused (TestPlace          *place,
                const char         *cwd,
                const char * const *read,
                const char * const *write,
                int                 code,
                const char         *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxBwrapPlan) plan = test_plan (place, cwd, read, write, &error);

  g_assert_null (plan);
  g_assert_error (error, SBX_ERROR, code);
  g_test_message ("%s", error->message);
  if (strstr (error->message, says) == NULL)
    g_error ("“%s” does not say “%s”", error->message, says);
}

#define ONE(path) ((const char *[]) { (path), NULL })

static void
test_refusals (void)
{
  static const char * const never[] = {
    "/", "//", "/proc", "/proc/self", "/sys", "/sys/kernel", "/dev", "/dev/shm", "/run",
    "/run/lock", "/tmp", "/var/tmp", "/var", "/usr/../dev",
  };
  g_auto(TestPlace) place = { 0 };
  g_autofree char *sub = NULL;
  gsize i;

  test_place_init (&place);

  for (i = 0; i < G_N_ELEMENTS (never); i++)
    {
      if (g_access (never[i], F_OK) < 0)
        continue;

      assert_refused (&place, place.work, ONE (never[i]), NULL, SBX_ERROR_REFUSED, "read: ");
      assert_refused (&place, place.work, NULL, ONE (never[i]), SBX_ERROR_REFUSED, "write: ");
      assert_refused (&place, never[i], NULL, NULL, SBX_ERROR_REFUSED, "cwd: ");
    }

  assert_refused (&place, place.work, NULL, ONE (place.operator_home), SBX_ERROR_REFUSED, "home");
  assert_refused (&place, place.work, NULL, ONE (place.root), SBX_ERROR_REFUSED, "home");
  assert_refused (&place, place.work, ONE (place.operator_home), NULL, SBX_ERROR_REFUSED, "home");
  assert_refused (&place, place.operator_home, NULL, NULL, SBX_ERROR_REFUSED, "home");
  assert_refused (&place, place.work, ONE (place.data), NULL, SBX_ERROR_REFUSED, "kept");
  assert_refused (&place, place.work, NULL, ONE (place.home), SBX_ERROR_REFUSED, "kept");

  /* What lies below home is what people work in. */
  sub = test_make_dir (place.operator_home, "project");
  {
    g_autoptr(GError) error = NULL;
    g_autoptr(SbxBwrapPlan) plan G_GNUC_UNUSED = test_plan (&place, sub, NULL, ONE (sub), &error);

    g_assert_no_error (error);
  }
}

static void
test_bad_paths (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autofree char *file = NULL;
  g_autofree char *missing = NULL;
  g_autofree char *below_file = NULL;
  g_autofree char *loop = NULL;
  g_autofree char *dangling = NULL;
  g_autofree char *fifo = NULL;
  g_autofree char *control = NULL;

  test_place_init (&place);
  test_run_outside (place.work, "touch file; ln -s loop loop; ln -s nothing dangling; mkfifo fifo");
  file = g_build_filename (place.work, "file", NULL);
  missing = g_build_filename (place.work, "missing", NULL);
  below_file = g_build_filename (place.work, "file/x", NULL);
  loop = g_build_filename (place.work, "loop", NULL);
  dangling = g_build_filename (place.work, "dangling", NULL);
  fifo = g_build_filename (place.work, "fifo", NULL);
  control = g_build_filename (place.work, "a\033[31m\n\xff", NULL);

  assert_refused (&place, missing, NULL, NULL, SBX_ERROR_NOT_FOUND, "does not exist");
  assert_refused (&place, file, NULL, NULL, SBX_ERROR_INVALID, "not a directory");
  assert_refused (&place, "work", NULL, NULL, SBX_ERROR_INVALID, "relative");
  assert_refused (&place, "", NULL, NULL, SBX_ERROR_INVALID, "empty");
  assert_refused (&place, place.work, ONE (missing), NULL, SBX_ERROR_NOT_FOUND, "read: ");
  assert_refused (&place, place.work, NULL, ONE (below_file), SBX_ERROR_NOT_FOUND, "write: ");
  assert_refused (&place, place.work, NULL, ONE (loop), SBX_ERROR_INVALID, "loop");
  assert_refused (&place, place.work, NULL, ONE (dangling), SBX_ERROR_NOT_FOUND, "not exist");
  assert_refused (&place, place.work, ONE (fifo), NULL, SBX_ERROR_INVALID, "neither");
  assert_refused (&place, place.work, NULL, ONE ("a/b"), SBX_ERROR_NOT_FOUND, "not exist");
  assert_refused (&place, place.work, NULL, ONE (control), SBX_ERROR_NOT_FOUND,
                  "a\\x1b[31m\\x0a\\xff");
}

static void
test_canonical (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *real = NULL;
  g_autofree char *odd = NULL;
  g_autofree char *link = NULL;
  g_autofree char *around = NULL;
  g_autofree char *output = NULL;
  int status;

  test_place_init (&place);
  odd = test_make_dir (place.work, "a b\nc\xff\xfe'\"\\\tü");
  real = test_make_dir (place.work, "real");
  link = g_build_filename (place.work, "link", NULL);
  around = g_strconcat (place.work, "//./link/../real/.//", NULL);
  g_assert_cmpint (symlink ("real", link), ==, 0);

  plan = test_plan (&place, link, ONE (odd), (const char *[]) { around, link, NULL }, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (plan->cwd, ==, real);
  g_assert_nonnull (find_mount (plan, real));
  g_assert_null (find_mount (plan, link));
  g_assert_cmpint (get_kind (plan, real), ==, SBX_BWRAP_MOUNT_BIND);
  g_assert_cmpint (get_kind (plan, odd), ==, SBX_BWRAP_MOUNT_RO_BIND);

  output = test_run_in (plan, plan->cwd, "touch here && ls -d ../a* > /dev/null && "
                                         "! touch ../a*/no 2>/dev/null && ! ls ../link 2>/dev/null",
                        &status);
  g_assert_cmpint (status, ==, 0);
}

/* The deepest path wins, at any depth, and what changes nothing is no mount. */
static void
test_nesting (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *a = NULL;
  g_autofree char *ab = NULL;
  g_autofree char *abc = NULL;
  g_autofree char *abcd = NULL;
  g_autofree char *abcde = NULL;
  g_autofree char *like = NULL;
  g_autofree char *output = NULL;
  int status;

  test_place_init (&place);
  a = test_make_dir (place.work, "a");
  ab = test_make_dir (a, "b");
  abc = test_make_dir (ab, "c");
  abcd = test_make_dir (abc, "d");
  abcde = test_make_dir (abcd, "e");
  like = test_make_dir (place.work, "ab");

  plan = test_plan (&place, abcde, (const char *[]) { abc, "/usr/share", ab, NULL },
                    (const char *[]) { a, abcd, like, abcde, NULL }, &error);
  g_assert_no_error (error);
  g_assert_cmpint (get_kind (plan, a), ==, SBX_BWRAP_MOUNT_BIND);
  g_assert_cmpint (get_kind (plan, ab), ==, SBX_BWRAP_MOUNT_RO_BIND);
  g_assert_null (find_mount (plan, abc));
  g_assert_cmpint (get_kind (plan, abcd), ==, SBX_BWRAP_MOUNT_BIND);
  g_assert_null (find_mount (plan, abcde));
  g_assert_nonnull (find_mount (plan, like));
  g_assert_null (find_mount (plan, "/usr/share"));

  output = test_run_in (plan, plan->cwd,
                        "touch x && touch ../y && ! touch ../../z && ! touch ../../../z && "
                        "touch ../../../../w && ls ../../../../../ab",
                        &status);
  g_assert_cmpint (status, ==, 0);
}

/* A base that any build can live in, and what must not be in it. */
static void
test_base (void)
{
  static const char * const work[] = {
    "test -r /etc/passwd -a -r /etc/group -a -r /etc/nsswitch.conf",
    "getent hosts localhost",
    "getent hosts $(hostname)",
    "test \"$(hostname)\" = sandbox",
    "touch /tmp/x /var/tmp/y && ls /tmp/y && touch $HOME/z",
    "cc -v 2>&1 | grep gcc",
    ("/usr/bin/python3 -c 'import ssl, ctypes, multiprocessing; assert "
     "ssl.create_default_context().get_ca_certs()'"),
    "test $(cat /proc/self/mountinfo | wc -l) -le 60",
    "test $(stat -c %a /var /run /etc /sandbox | sort -u) = 755",
    "date +%Z",
    "touch /dev/shm/s && head -c 1 /dev/zero > /dev/null",
    "test $(df --output=size -k /dev/shm | tail -1) -le 262144",
    "test -d /proc/1 && test $(ls -d /proc/[0-9]* | wc -l) -lt 12",
    "git config --global user.email | grep -x o@example.org",
    "test $(awk '/CapEff/ { print $2 }' /proc/self/status) = 0000000000000000",
    "test $(awk '/Seccomp:/ { print $2 }' /proc/self/status) = 2",
    "test -x /run/libsbx/init/sbx-init",
    "test $(find /proc/sys -type f -writable 2>/dev/null | wc -l) = 0",
  };
  static const char * const absent[] = {
    "ls /home", "ls /root", "ls /mnt", "ls /media", "ls /srv", "ls /run/systemd", "ls /sys/kernel",
    "cat /etc/shadow", "cat /etc/gshadow", "ls /etc/ssh", "ls /etc/ssl/private", "ls /etc/sudoers",
    "touch /x", "touch /dev/x", "touch /etc/x", "touch /usr/x", "touch /proc/sys/x", "mkdir /home",
    "echo core > /proc/sys/kernel/core_pattern", "cat /proc/slabinfo", "cat /proc/kpagecount",
    "cat /proc/timer_list", "cat /proc/vmallocinfo", "cat /proc/kcore", "mount -t tmpfs x /tmp",
    "chmod u+s $HOME/z", "touch $HOME/s && chmod g+s $HOME/s",
    "ls /dev/sda /dev/vda /dev/kvm /dev/console", "curl -m 2 http://1.1.1.1",
  };
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  gsize i;

  test_place_init (&place);
  plan = test_plan (&place, place.work, NULL, NULL, &error);
  g_assert_no_error (error);

  for (i = 0; i < G_N_ELEMENTS (work); i++)
    {
      int status;
      g_autofree char *output = test_run_in (plan, place.work, work[i], &status);

      if (status != 0)
        g_error ("“%s” failed with %d: %s", work[i], status, output);
    }

  for (i = 0; i < G_N_ELEMENTS (absent); i++)
    {
      int status;
      g_autofree char *output = test_run_in (plan, place.work, absent[i], &status);

      if (status == 0)
        g_error ("“%s” worked: %s", absent[i], output);
    }
}

/* Root outside is not root inside. */
static void
test_foreign_owner (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autofree char *foreign = NULL;
  g_autofree char *open = NULL;

  test_place_init (&place);

  if (geteuid () != 0)
    {
      assert_refused (&place, place.work, NULL, ONE ("/usr/bin"), SBX_ERROR_NOT_ENFORCEABLE,
                      "belongs to root");
      return;
    }

  foreign = test_make_dir (place.work, "foreign");
  open = test_make_dir (place.work, "open");
  g_assert_cmpint (chown (foreign, 65534, 65534), ==, 0);
  g_assert_cmpint (chmod (open, 0777), ==, 0);
  g_assert_cmpint (chown (open, 65534, 65534), ==, 0);

  assert_refused (&place, place.work, NULL, ONE (foreign), SBX_ERROR_NOT_ENFORCEABLE,
                  "sudo -u nobody");
  {
    g_autoptr(GError) error = NULL;
    g_autoptr(SbxBwrapPlan) plan = test_plan (&place, place.work, ONE (foreign), ONE (open),
                                              &error);
    g_autofree char *output = NULL;
    int status;

    g_assert_no_error (error);
    output = test_run_in (plan, place.work, "ls foreign && touch open/x", &status);
    g_assert_cmpint (status, ==, 0);
  }
}

/* A name that is swapped after it was resolved leads to nothing else. */
static void
test_swap (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *given = NULL;
  g_autofree char *output = NULL;
  int status;

  test_place_init (&place);
  given = test_make_dir (place.work, "given");
  test_run_outside (place.work, "mkdir secret; echo s > secret/s");
  plan = test_plan (&place, given, NULL, ONE (given), &error);
  g_assert_no_error (error);

  test_run_outside (place.work, "mv given moved; ln -s secret given");
  output = test_run_in (plan, "/", "true", &status);
  g_test_message ("%s", output);
  g_assert_cmpint (get_kind (plan, given), ==, SBX_BWRAP_MOUNT_BIND);

  g_free (output);
  output = test_run_in (plan, "/", "cat */work/given/s /tmp/*/work/given/s", &status);
  g_assert_cmpint (status, !=, 0);
}

static void
test_var_tmp (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  g_autofree char *script = NULL;
  char path[] = "/var/tmp/sbx-plan-XXXXXX";
  int status;

  test_place_init (&place);
  g_assert_nonnull (g_mkdtemp (path));
  plan = test_plan (&place, place.work, NULL, ONE (path), &error);
  g_assert_no_error (error);

  script = g_strdup_printf ("touch %s/x /var/tmp/y && ls /tmp/y", path);
  output = test_run_in (plan, place.work, script, &status);
  g_assert_cmpint (status, ==, 0);

  g_free (script);
  script = g_build_filename (path, "x", NULL);
  g_assert_cmpint (g_unlink (script), ==, 0);
  g_assert_cmpint (g_rmdir (path), ==, 0);
}

static void
test_submounts (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  guint i;

  test_place_init (&place);
  plan = test_plan (&place, place.work, NULL, NULL, &error);
  g_assert_no_error (error);

  for (i = 0; i < plan->submounts->len; i++)
    {
      const SbxBwrapSubmount *one = g_ptr_array_index (plan->submounts, i);

      g_assert_true (g_path_is_absolute (one->path));
      g_assert_false (g_str_has_prefix (one->path, place.work));
    }

  /* Where mounts can be made, one with a space in its name. */
  if (geteuid () == 0)
    {
      g_autofree char *dir = test_make_dir (place.work, "x y");
      gboolean found = FALSE;

      test_run_outside (place.work, "mount -t tmpfs -o size=4k none 'x y'");
      g_clear_pointer (&plan, _sbx_bwrap_plan_unref);
      plan = test_plan (&place, place.work, NULL, NULL, &error);
      test_run_outside (place.work, "umount 'x y'");
      g_assert_no_error (error);

      for (i = 0; i < plan->submounts->len; i++)
        {
          const SbxBwrapSubmount *one = g_ptr_array_index (plan->submounts, i);

          found |= strcmp (one->path, dir) == 0 && strcmp (one->type, "tmpfs") == 0;
        }
      g_assert_true (found);
    }
}

static void
test_cancelled (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxRoots) roots = NULL;
  SbxBwrapPlanInput input = { 0 };

  test_place_init (&place);
  asked = sbx_reach_new (place.work);
  reach = test_resolve (&place, asked, &roots, &error);
  g_assert_no_error (error);
  input.reach = reach;
  input.roots = roots;
  input.tmp_path = place.tmp;
  input.home_path = place.home;
  input.init_path = "/usr/bin/env";
  g_cancellable_cancel (cancellable);
  plan = _sbx_bwrap_plan_new (&input, cancellable, &error);
  g_assert_null (plan);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/bwrap/plan/refusals", test_refusals);
  g_test_add_func ("/bwrap/plan/bad-paths", test_bad_paths);
  g_test_add_func ("/bwrap/plan/canonical", test_canonical);
  g_test_add_func ("/bwrap/plan/nesting", test_nesting);
  g_test_add_func ("/bwrap/plan/base", test_base);
  g_test_add_func ("/bwrap/plan/foreign-owner", test_foreign_owner);
  g_test_add_func ("/bwrap/plan/swap", test_swap);
  g_test_add_func ("/bwrap/plan/var-tmp", test_var_tmp);
  g_test_add_func ("/bwrap/plan/submounts", test_submounts);
  g_test_add_func ("/bwrap/plan/cancelled", test_cancelled);

  return g_test_run ();
}
