ALTER TABLE `holds` ADD `scopes` text;--> statement-breakpoint
ALTER TABLE `spend_limits` ADD `each_kind` text;