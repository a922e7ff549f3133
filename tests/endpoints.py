"""Every endpoint of the page under its own name: ``from tests.endpoints import predict``."""

from explorer.ui.shell.api import ENDPOINTS

globals().update(ENDPOINTS)
