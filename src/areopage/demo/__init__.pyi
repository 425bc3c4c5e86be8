"""The demonstration: recorded answers and verdicts go through the exact pipeline, without a server, a key or a download."""

from .detect import local_servers as local_servers  # The servers that answer and have a model.
from .material import EXAM_PASSES as EXAM_PASSES
from .material import read_material as read_material  # The demonstration in a language, `en` or `fr`.
from .page import console_lines as console_lines  # The same in a few lines
from .page import own_command as own_command  # The command that a user runs next.
from .page import tour_locale as tour_locale  # The messages of the demonstration and of all reports.
from .page import tour_page as tour_page  # Build the page.
from .tour import TourComparison as TourComparison  # The second run beside the first one.
from .tour import play as play  # Lay the demonstration out in a new folder and carry it out.
