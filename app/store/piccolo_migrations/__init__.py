"""The schema's history, one file a step, run by Piccolo in the order of their `ID`.

A step that has been released is never edited: add another. Statements are plain SQL.
"""
