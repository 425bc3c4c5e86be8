"""Output of results for people and programs: results.json, tables, HTML reports."""

# A horizontal line that says where something begins, such as the threshold of alerts.
from .charts import STYLES as STYLES  # A horizontal line that says where something begins, such as the threshold of alerts.
from .charts import ChartLevel as ChartLevel
from .charts import Series as Series  # One line of a chart.
from .console import UNSEEN_WIDTH as UNSEEN_WIDTH  # Columns of output that is not a terminal.
from .console import Printer as Printer  # Prints the parts of reports on a console.
from .console import print_report as print_report  # Print a report
from .console import text_console as text_console  # A console for plain text
from .elements import LONGEST_TEXT as LONGEST_TEXT
from .elements import MESSAGE_FILES as MESSAGE_FILES  # The words of all reports, and those beside the figures of a package.
from .elements import audience as audience  # The name of an age, with its years if they are known.
from .elements import axis_of as axis_of  # The places of a scale's whole points with their labels
from .elements import bar_on as bar_on  # The bar of a score on a scale, with its interval.
from .elements import columns as columns  # A column of text named `first`, then columns of numbers
from .elements import corrected_cell as corrected_cell  # A corrected mean, with the calibration's id as its title

# What corrected the scores and on what it rests, in lines of plain text.
from .elements import correction_texts as correction_texts
from .elements import count_cell as count_cell  # A cell with a count
from .elements import excerpt as excerpt  # A foreign text, cut to a length.
from .elements import figure_text as figure_text  # A figure with its interval

# The heads of the ledger's hash chains, which `areopage verify --against` reads from a report.
from .elements import head_facts as head_facts
from .elements import histogram as histogram  # How many values lie in each of equal steps between two ends.
from .elements import method_section as method_section  # How a report came about
from .elements import point_on as point_on  # The point of a score on a scale, with its interval.
from .elements import range_text as range_text  # An interval
from .elements import report_locale as report_locale  # The messages of all reports in a language
from .elements import rows as rows  # Rows of cells.
from .elements import ruler as ruler  # A score with its interval between the ends of its scale.
from .elements import share_interval as share_interval  # The interval of a share in percent
from .elements import share_range as share_range  # The interval of a share, or of what it leaves, in whole percents
from .elements import share_text as share_text  # A share in percent
from .elements import variant_name as variant_name  # A variant's name
from .elements import verdict_name as verdict_name  # What a release verdict is called, with its reservations
from .elements import with_interval as with_interval  # A value with its interval, named as one where it is known.
from .export import COLUMNS as COLUMNS  # The files, with the fields of each row.
from .export import LEDGER_FORMS as LEDGER_FORMS
from .export import column_types as column_types  # The type of each column of a file, by the types of the records' fields.
from .export import export_answers as export_answers  # Write answers to a file, atomically.
from .export import export_ledger as export_ledger  # Write the files of `COLUMNS` to a new folder, atomically.
from .gate.decisions import decision_locale as decision_locale  # The messages on decisions in a language
from .gate.decisions import explain as explain  # Describe every reason, decisive reasons first.
from .gate.decisions import reason_text as reason_text  # Describe a reason with its sentence, words and document.
from .gate.decisions import verdict_text as verdict_text  # Describe the verdict.
from .gate.figures import gate_figures as gate_figures  # Read a report's data, in portions.
from .gate.page import gate_report as gate_report  # Build the report from figures.
from .gate.page import gate_report_name as gate_report_name  # The name of a report's file in a folder.
from .judges.agreement import agreement_csv as agreement_csv  # Format one CSV line per criterion, with decimal points.
from .judges.agreement import agreement_json as agreement_json  # Format all figures as JSON.
from .judges.agreement import agreement_remarks as agreement_remarks  # Notes for the correct interpretation of the figures.
from .judges.agreement import agreement_text as agreement_text  # Format the figures as plain text.
from .judges.agreement import claim_text as claim_text  # Describe whether the correlation exceeds the bound.
from .judges.agreement import name_of as name_of  # A criterion's display name.
from .judges.agreement import scale_text as scale_text  # The scale of a criterion
from .judges.agreement import table as table  # Rows in columns
from .judges.jury_worth import worth_fact as worth_fact  # The worth of a jury beside a score
from .judges.jury_worth import worth_rows as worth_rows  # Heads and a row for each judge beside people, as plain text.
from .judges.jury_worth import worth_section as worth_section  # The section of a report.
from .judges.jury_worth import worth_texts as worth_texts  # The worth of a jury in plain sentences.
from .judges.qualification import ALARMING as ALARMING
from .judges.qualification import drift_lines as drift_lines  # How judges moved since their exams, a line for each criterion

# When a judge was examined and on how many criteria it is qualified, or when it moved
from .judges.qualification import exam_text as exam_text
from .judges.qualification import is_alarming as is_alarming  # Whether the standing of a panel is marked
from .judges.qualification import judge_reason as judge_reason  # The reason for a judge's unfitness, translated if known.
from .judges.qualification import judge_text as judge_text  # The standing of one judge in a word
from .judges.qualification import mark_text as mark_text  # Why a mark is not met, and what would settle it.
from .judges.qualification import missed_lines as missed_lines  # Why judges are not qualified, a line for each criterion.
from .judges.qualification import panel_text as panel_text  # The same where it does not stand beside the word judges

# Describe the standing of a panel as a fact about its judges
from .judges.qualification import qualification_text as qualification_text
from .judges.qualification import shift_text as shift_text  # What a round says of a judge on a criterion.
from .model import Assessment as Assessment  # One criterion of a response with all that the judges said.
from .model import Badge as Badge  # A short remark that stays beside a title or a name.
from .model import Bar as Bar  # A horizontal bar
from .model import Blanks as Blanks  # Lines to fill in by hand on paper
from .model import Block as Block
from .model import Cell as Cell  # A cell.
from .model import Choice as Choice  # One choice among entries
from .model import Choices as Choices  # Buttons above single entries of a page, which show only some of them
from .model import Column as Column  # A column of a table
from .model import Details as Details  # Blocks that a page hides behind a summary
from .model import Entries as Entries  # Answers to look at, the most important first.
from .model import Entry as Entry  # One answer of a list
from .model import Excerpt as Excerpt  # A foreign text over several lines.
from .model import Facts as Facts  # Names with their values.
from .model import Filter as Filter  # A table with links that show only some of its rows.
from .model import Heading as Heading  # A heading inside of a section.
from .model import Headline as Headline  # The most important figure
from .model import Line as Line  # A text, or parts of one that are joined without a space.
from .model import Listing as Listing  # Points of a list, with or without a title
from .model import Notice as Notice  # A warning above all figures
from .model import Paragraph as Paragraph  # A paragraph
from .model import Quote as Quote  # An extract that a judge quotes.
from .model import Remark as Remark  # The comment of one judge in one pass.
from .model import Report as Report  # A whole report.
from .model import Row as Row  # A row of a table
from .model import Section as Section  # A section with the name of its anchor.
from .model import Span as Span  # A part of a line that looks different
from .model import Table as Table  # A table.
from .model import TrendChart as TrendChart  # Lines over days
from .model import line as line  # A line of several parts with spaces between them

# Fit a calibration to the blind labels of a monitored period's random sample.
from .monitor.calibrated import fit_period as fit_period
from .monitor.figures import QualityFigures as QualityFigures  # The data of a quality report.
from .monitor.figures import outward as outward  # Reduce an answer's score to its exportable texts.
from .monitor.figures import period_figures as period_figures  # Read a report's data.
from .monitor.page import daily_series as daily_series  # The mean of each day, with its number of answers and its interval.
from .monitor.page import quality_report as quality_report  # Build the report from figures.
from .monitor.page import quality_report_name as quality_report_name  # The name of a report's file.
from .monitor.page import score_histogram as score_histogram  # Count answers in each step of the scale, coloured by grade.
from .monitor.period_trust import period_trust as period_trust  # Make the record of a period.
from .rendering import FORMS as FORMS
from .rendering import TEMPLATES as TEMPLATES
from .rendering import ReportForm as ReportForm
from .rendering import draw as draw  # A chart as SVG.
from .rendering import environment as environment  # The template environment of a language
from .rendering import form_of_file as form_of_file  # The form that a file's ending names, else Markdown.
from .rendering import render as render  # Render a report in a format.
from .rendering import write_report as write_report  # Write a report, replacing an existing file atomically
from .tables import FORMS_BY_SUFFIX as FORMS_BY_SUFFIX
from .tables import MAX_CELL as MAX_CELL
from .tables import CellKind as CellKind  # What a column holds
from .tables import TableColumn as TableColumn  # A column of a table
from .tables import TableForm as TableForm  # `csv;` has semicolons between its cells.
from .tables import Written as Written  # What was written
from .tables import replacing as replacing  # Yield a temporary path that replaces `path` if the block succeeds.
from .tables import write_rows as write_rows  # Write a table, replacing the file whole or not at all.
from .tables import write_table as write_table  # Write a CSV file that spreadsheets read as UTF-8 and never run
