"""Modules of Debian's packages, also for another python3 than Debian's."""
import importlib
import sys

DIST = "/usr/lib/python3/dist-packages"


def debian_module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        if DIST in sys.path:
            raise
    sys.path.append(DIST)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(DIST)
