// Tells the server in which time zone this browser is, for whoever has chosen none.
document.cookie = `time_zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=86400; samesite=lax`;
