"""The package that is imported and installed: `tailrace.core`, `tailrace.api` and `tailrace.app`.

In the repository, its members are links to the folders at the top. In a wheel, they are those folders. The
package runs no code when it is imported, so importing one part never loads another.
"""
