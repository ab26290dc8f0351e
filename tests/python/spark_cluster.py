"""A standalone Spark of processes on the loopback: a master and workers of one core each.

    with Cluster(workers=2) as cluster:
        session = cluster.session()
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pyspark

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
from waiting import until


def _ended(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class Cluster:
    def __init__(self, workers=2, memory="2g", **settings):
        self.home = os.path.dirname(pyspark.__file__)
        self.memory, self.settings = memory, settings
        self.folder = tempfile.mkdtemp(prefix="posy-spark-")
        # Also of this process: the driver hands them to the executors.
        os.environ.update(SPARK_HOME=self.home, SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
        os.environ.pop("SPARK_REMOTE", None)
        self.workers, self.driver = {}, None
        self.master = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._said("master", "Starting Spark master at ")
        for number in range(workers):
            self.start_worker(f"worker{number}")

    def _start(self, name, kind, *arguments):
        with open(f"{self.folder}/{name}.log", "w") as log:
            return subprocess.Popen(
                [f"{self.home}/bin/spark-class", f"org.apache.spark.deploy.{kind}", *arguments],
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True, cwd=self.folder)

    def _said(self, name, words, seconds=120):
        """What follows these words in a log, on the same line."""
        def text():
            with open(f"{self.folder}/{name}.log") as log:
                return log.read()

        until(lambda: words in text(), seconds, f"{name} said {words!r}")
        return text().split(words, 1)[1].split("\n", 1)[0].strip()

    def start_worker(self, name):
        self.workers[name] = self._start(
            name, "worker.Worker", self.url, "--host", "127.0.0.1", "--cores", "1", "--memory", self.memory,
            "--webui-port", "0", "--work-dir", f"{self.folder}/{name}")
        self._said(name, "Successfully registered with master")

    def kill_worker(self, name):
        """The worker and its executors at once, as if the machine had gone."""
        # Executors are in the worker's own session, if not in its process group.
        subprocess.run(["pkill", "-KILL", "-s", str(self.workers[name].pid)], check=False)
        _ended(self.workers.pop(name))

    def session(self):
        from pyspark.sql import SparkSession

        build = SparkSession.builder.master(self.url).appName("posy")
        settings = {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
            "spark.executor.memory": self.memory, "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "4",
            "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR", **self.settings}
        for key, value in settings.items():
            build = build.config(key, value)
        self.driver = build.getOrCreate()
        return self.driver

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.driver is not None:
            self.driver.stop()
        for process in [*self.workers.values(), self.master]:
            _ended(process)
        shutil.rmtree(self.folder, ignore_errors=True)
