ALTER TABLE `holds` ADD `unit_name` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `units` integer;--> statement-breakpoint
ALTER TABLE `holds` ADD `unit_price` integer;