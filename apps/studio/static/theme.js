// Runs before the page is drawn, so that the wrong colours never flash.
const kept = localStorage.getItem("planweave.theme");
if (kept) document.documentElement.dataset.theme = kept;
