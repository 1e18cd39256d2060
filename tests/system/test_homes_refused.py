"""Homes that stay, and what befalls them: damage, losses, somebody else who
has one, the end of one, deaths of processes and of the machine.

As test_homes, with neurond alone."""
import os
import shutil
import signal
import subprocess
import unittest

from test_homes import ID, OTHER, SIZE, Rig

SUPER = 1024		# where ext4's superblock is


class Refused(Rig):
    def test_one_that_is_lost_is_not_made_again(self):
        cause, why = self.gone(self.sh("true", ["-K"]))
        self.assertEqual(cause, 3)
        self.assertEqual(why, "its home, neurons/%s/home.img, is lost" % ID)
        self.assertEqual(os.listdir(self.homes), [])

    def damaged(self, change, words):
        self.sh("echo precious >f")
        self.let_go()
        with open(self.image(), "r+b") as f:
            change(f)
        with open(self.image(), "rb") as f:
            before = f.read()
        cause, why = self.gone(self.sh("true", ["-l"]))
        self.assertEqual(cause, 3)
        self.assertRegex(why, "^its home, neurons/%s/home.img, %s" %
                         (ID, words))
        with open(self.image(), "rb") as f:
            self.assertEqual(f.read(), before)
        # Another's is not touched by it.
        self.assertIn("ENDED exited code 0", self.sh("true", home=OTHER))

    def test_no_ext4(self):
        def change(f):
            f.seek(SUPER)
            f.write(bytes(1024))
        self.damaged(change, "holds no ext4")

    def test_cut_off(self):
        self.damaged(lambda f: f.truncate(SUPER), "is cut off")

    def test_cut_off_in_the_middle(self):
        self.damaged(lambda f: f.truncate(SIZE // 2), "is damaged")

    def test_errors_that_the_kernel_met(self):
        self.damaged(lambda f: subprocess.run(
            ["/sbin/debugfs", "-w", "-R", "ssv state 2", f.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
            "is damaged: the kernel met errors in it")
        # What the page says to do mends it.
        subprocess.run(["/sbin/e2fsck", "-f", "-p", self.image()],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertIn("precious\n", self.sh("cat f", ["-K"]))

    def test_a_link_is_not_followed(self):
        self.sh("true", home=OTHER)
        os.mkdir(os.path.dirname(self.image()), 0o700)
        os.symlink(self.image(OTHER), self.image())
        self.assertIn("its home: its image: Too many levels",
                      self.gone(self.sh("true"))[1])
        os.remove(self.image())
        os.rmdir(os.path.dirname(self.image()))
        os.symlink(os.path.dirname(self.image(OTHER)),
                   os.path.dirname(self.image()))
        self.assertIn("its home: its directory:",
                      self.gone(self.sh("true"))[1])
        os.remove(os.path.dirname(self.image()))

    def test_no_loop_devices(self):
        out = self.sh("true", before=[
            "unshare", "-m", "sh", "-ec", "mount --bind /dev/null "
            "/dev/loop-control; exec \"$@\"", "sh"])
        cause, why = self.gone(out)
        self.assertEqual(cause, 2)
        self.assertIn("its home: a free loop device: ", why)
        # Nothing half made is a home, and it can be made later.
        self.assertIn("HOMES 1\n", self.sh("true", ["-l"]))

    def test_a_loop_device_of_somebody_else(self):
        """Two mounts of one image would destroy it."""
        self.sh("echo kept >f")
        device = subprocess.run(["losetup", "-f", "--show", self.image()],
                                stdout=subprocess.PIPE,
                                check=True).stdout.decode().strip()
        try:
            cause, why = self.gone(self.sh("true", ["-K"]))
        finally:
            subprocess.run(["losetup", "-d", device], check=True)
        self.assertEqual((cause, why), (
            3, "its home, neurons/%s/home.img, is still in use by %s" %
            (ID, device)))
        self.assertIn("kept\n", self.sh("cat f", ["-K"]))

    def test_two_neuronds(self):
        """Whoever has it has it alone."""
        p = self.begin(["/bin/sh", "-c", "echo started; sleep 60"])
        first, self.name = self.name, self.name + "b"
        cause, why = self.gone(self.sh("true", ["-K"]))
        self.assertEqual((cause, why), (
            3, "its home, neurons/%s/home.img, is in use" % ID))
        self.name = first
        self.end(p)


class Dropped(Rig):
    def test_one_that_is_live(self):
        out = self.sh("echo x >f", ["-D", "-l"])
        self.assertIn('DROPPED %s error 16 "the neuron is live"' % ID, out)
        self.assertIn('DROPPED %s error 0 ""' % ID, out)
        self.assertIn("HOMES 0\n", out)
        self.assertEqual(os.listdir(self.homes), [])

    def test_others_stay(self):
        self.sh("echo mine >f", home=OTHER)
        self.sh("true", ["-D"])
        self.assertEqual(os.listdir(self.homes), [OTHER])
        self.assertIn("mine\n", self.sh("cat f", ["-K"], home=OTHER))

    def test_one_that_is_not_there(self):
        out = self.drive(["/bin/true"], ["-K", "-D"])
        self.assertIn("DROPPED %s error 2 " % ID, out)


class Deaths(Rig):
    def kept(self):
        self.assertIn("kept\n", self.sh("cat f", ["-K"]))

    def kill(self, what):
        return self.sh("echo kept >f; sync f; echo started; sleep 1",
                       ["-k", what])

    def test_neurond(self):
        p = self.begin(["/bin/sh", "-c", "echo kept >f; sync f; echo started; "
                        "sleep 60"])
        children = "/proc/%d/task/%d/children" % (p.pid, p.pid)
        with open(children) as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
        p.communicate(timeout=120)
        self.kept()

    def test_spawner(self):
        self.kill("spawner")
        self.kept()

    def test_maker(self):
        out = self.kill("maker")
        self.assertIn("maker pid", out)
        self.kept()

    def test_the_journal_is_replayed(self):
        """The machine may stop at any time: what a home looked like then is
        one that opens."""
        p = self.begin(["/bin/sh", "-c", "mkdir d; for i in 1 2 3; do "
                        "echo $i >d/$i; sync d/$i; mv d/$i d/x; done; "
                        "sync -f d; echo started; sleep 60"])
        copy = os.path.join(self.homes, OTHER)
        os.mkdir(copy, 0o700)
        # What the disk has in this moment, as a power cut leaves it.
        shutil.copyfile(self.image(), self.image(OTHER))
        self.end(p)
        out = subprocess.run(["/sbin/dumpe2fs", "-h", self.image(OTHER)],
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout.decode()
        self.assertIn("needs_recovery", out)
        out = self.sh("ls d; cat d/x", ["-K"], home=OTHER)
        self.assertIn("x\n3\n", out)

    def test_what_was_being_made(self):
        directory = os.path.dirname(self.image())
        os.mkdir(directory, 0o700)
        with open(os.path.join(directory, "home.new"), "wb") as f:
            f.truncate(SIZE)
        out = self.sh("true", ["-l"], home=OTHER)
        self.assertIn("HOMES 1\n", out)
        self.assertEqual(os.listdir(self.homes), [OTHER])

    def test_ten_in_turn(self):
        """Each opens what the one before let go."""
        out = self.drive(["/bin/sh", "-c", "echo x >>f; cat f | wc -l"],
                         ["-c", "10"])
        self.assertEqual(out.count("ENDED exited code 0"), 10, out)
        self.assertIn("\n10\n", out)


if __name__ == "__main__":
    unittest.main()
