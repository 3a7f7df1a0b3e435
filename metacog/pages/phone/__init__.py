"""The console on a phone: the installed app, and the devices that take notices."""
